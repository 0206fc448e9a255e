/**
 * What the project's start policies can speak: the task families whose texts they were taught to write, and the roles that their
 * warm starts demonstrated. A recipe that begins from a policy which never saw its family or one of its roles would train on noise.
 */
import { wrongInput } from '../core/errors.ts';
import type { StageRecipe } from '../core/recipe/role.ts';

export interface Start {
  /** Names of task families. */
  readonly families: readonly string[];
  readonly roles: readonly string[];
}

const ARITHMETIC = ['arithmetic'];

export const STARTS: Readonly<Record<string, Start>> = {
  'arithmetic-base': { families: ARITHMETIC, roles: ['proposer', 'solver', 'judge'] },
  'arithmetic-step-slips': { families: ARITHMETIC, roles: ['solver', 'judge'] },
  'arithmetic-chains': { families: ['chains'], roles: ['solver', 'judge'] },
  'arithmetic-analyses': { families: ['chains'], roles: ['solver', 'judge', 'meta-judge'] },
  programs: { families: ['programs'], roles: ['proposer', 'solver'] },
  'programs-one-instruction': { families: ['programs'], roles: ['proposer', 'solver'] },
  'programs-repair': { families: ['repair'], roles: ['proposer', 'solver'] },
  'programs-environments': { families: ['environments'], roles: ['proposer', 'solver', 'judge'] },
  'programs-statements': { families: ['statements'], roles: ['solver', 'tester'] },
  style: { families: ['style'], roles: ['responder', 'judge'] },
  'style-contrasts': { families: ['style'], roles: ['responder'] },
  'style-wishes': { families: ['style'], roles: ['responder'] },
  'style-rules': { families: ['style'], roles: ['responder', 'judge', 'orchestrator'] },
  documents: { families: ['documents'], roles: ['author', 'rewriter', 'judge'] },
  'documents-reading': { families: ['documents'], roles: ['author', 'rewriter', 'judge'] },
  'documents-layers': { families: ['documents'], roles: ['author', 'rewriter', 'judge', 'updater'] },
  'documents-questions': { families: ['questions'], roles: ['solver'] },
  'documents-sums': { families: ['sums'], roles: ['author'] },
  search: { families: ['knowledge'], roles: ['proposer', 'solver'] },
  'search-two-hop': { families: ['knowledge'], roles: ['proposer', 'solver'] },
  'search-stumbling': { families: ['knowledge'], roles: ['proposer', 'solver'] },
  'search-guarded': { families: ['knowledge'], roles: ['solver'] },
  grids: { families: ['lake', 'push'], roles: ['agent'] },
  'grids-seen': { families: ['push'], roles: ['agent'] },
  equations: { families: ['equations'], roles: ['proposer', 'solver', 'judge'] },
  rewriting: { families: ['rewriting'], roles: ['proposer', 'solver', 'judge'] },
  games: { families: ['kuhn', 'tic-tac-toe'], roles: ['player'] },
  'games-together': {
    families: ['kuhn', 'tic-tac-toe', 'hint', 'split', 'split-advised', 'meet'],
    roles: ['player', 'strategist'],
  },
  cipher: { families: ['cipher'], roles: ['solver', 'judge'] },
  'temporal-graphs': { families: ['temporal graphs'], roles: ['solver'] },
  'arithmetic-late-slips': { families: ARITHMETIC, roles: ['proposer', 'solver'] },
  'arithmetic-judges': { families: ARITHMETIC, roles: ['proposer', 'solver', 'judge'] },
  'arithmetic-overthinking': { families: ARITHMETIC, roles: ['proposer', 'solver', 'judge'] },
  'arithmetic-terse': { families: ARITHMETIC, roles: ['solver'] },
  'arithmetic-two-forms': { families: ARITHMETIC, roles: ['solver'] },
  'arithmetic-verbose': { families: ['arithmetic with checks'], roles: ['solver'] },
  'arithmetic-checking': { families: ['arithmetic, checked'], roles: ['solver'] },
  'arithmetic-rambling': {
    families: ['arithmetic, rambled'],
    roles: ['solver', 'segmenter', 'scorer'],
  },
  'arithmetic-aided': { families: ARITHMETIC, roles: ['solver', 'hinter'] },
  'arithmetic-debating': { families: ARITHMETIC, roles: ['solver', 'hinter'] },
  'arithmetic-revising': { families: ARITHMETIC, roles: ['solver'] },
  'arithmetic-reading': { families: ARITHMETIC, roles: ['solver', 'hinter'] },
  'arithmetic-variants': { families: ARITHMETIC, roles: ['proposer', 'solver'] },
  'arithmetic-puzzles': { families: ARITHMETIC, roles: ['solver'] },
  'arithmetic-variations': { families: ARITHMETIC, roles: ['solver', 'writer'] },
  'arithmetic-reports': { families: ARITHMETIC, roles: ['solver'] },
  'arithmetic-undertrained': { families: ARITHMETIC, roles: ['solver'] },
  words: { families: ['words, generated'], roles: ['proposer', 'solver', 'judge'] },
  canvas: { families: ['canvas'], roles: ['solver'] },
  'canvas-speaking': {
    families: ['canvas', 'canvas pairs', 'canvas drawings'],
    roles: ['proposer', 'solver', 'speaker', 'voter', 'drawer'],
  },
  'canvas-erasing': { families: ['canvas stamps'], roles: ['stylist', 'eraser'] },
  'canvas-requests': { families: ['canvas requests'], roles: ['drawer'] },
  'canvas-watching': { families: ['canvas clips'], roles: ['solver'] },
  'canvas-looking': {
    families: ['canvas maps'],
    roles: ['describer', 'solver', 'perceiver', 'reasoner', 'verifier'],
  },
  composition: { families: ['composition'], roles: ['proposer', 'solver', 'judge'] },
  'words-aided': { families: ['words, generated'], roles: ['proposer', 'solver', 'judge'] },
};

/** Throws `recipe.start` where a shipped start was not taught the recipe's family, or one of its roles. Says nothing of other policies. */
export function expectSpeaks({
  name,
  startPolicy,
  taskName,
  writtenAs = taskName,
  roles,
}: Pick<StageRecipe, 'name' | 'roles'> & {
  readonly startPolicy: string;
  readonly taskName: string;
  readonly writtenAs?: string;
}): void {
  const known = Object.hasOwn(STARTS, startPolicy) ? STARTS[startPolicy]! : null;
  if (!known) return;
  const refused = (what: string, can: readonly string[]) =>
    wrongInput('recipe.start', `Recipe ${name} begins from ${startPolicy}, which was not taught ${what}.`, {
      expected: `one of what ${startPolicy} was taught: ${can.join(', ')}`,
      next: `Begin from another policy: ${
        Object.entries(STARTS)
          .filter(([, other]) => other.families.includes(writtenAs))
          .map(([other]) => other)
          .join(', ') || 'none of the shipped ones speaks this family'
      }. A family of your own that is written as one of these says so in the recipe's \`writtenAs\`.`,
    });
  if (!known.families.includes(writtenAs)) throw refused(`the family "${writtenAs}"`, known.families);
  for (const [role, { speaksAs = role }] of Object.entries(roles))
    if (!known.roles.includes(speaksAs))
      throw refused(
        `the role "${role}"${speaksAs === role ? '' : `, which speaks as ${speaksAs}`}`,
        known.roles,
      );
}
