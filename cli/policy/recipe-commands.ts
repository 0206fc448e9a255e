/** `policy league`, and what `policy eval --recipe` prints. */
import type { Command } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import type { Engine, PolicyRef } from '../../core/policy/policy.ts';
import { kernelEngineOf } from '../../core/policy/policy.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { Evaluation } from '../../core/schema/evaluation.ts';
import { pWords } from '../../core/statistics/change.ts';
import type { RecipeWay } from '../../protocols/solve/solve-by-recipe.ts';
import { decimal, percent, points, whole as wholeNumber } from '../shared/figures.ts';
import { engineOption, whole } from '../shared/run-options.ts';
import { versionName } from '../shared/version-name.ts';
import type { LeagueRow, RecipeEvaluation } from './by-recipe.ts';
import { type Common, print, printJson, subcommand, withStore } from './command-line.ts';

/** The recipe that is referred to, in a world or game of the user's where one is named. */
export async function recipeIn(reference: string, world?: string): Promise<Recipe> {
  const { changedRecipe } = await import('../changed-recipe.ts');
  const { openRecipes } = await import('../recipe-modules.ts');
  const changed = await changedRecipe(reference, [], world);
  return changed?.recipe ?? (await openRecipes([reference])).named[0]!;
}

const figureLines = ({ heldOut, figures = {} }: Evaluation): string[] => [
  `  score            ${percent(heldOut.accuracy, 1)} on ${heldOut.n}`,
  ...(heldOut.sampled === null ? [] : [`  sampled          ${percent(heldOut.sampled, 1)}`]),
  ...(heldOut.formatRate === null ? [] : [`  well-formed      ${percent(heldOut.formatRate, 1)}`]),
  ...Object.entries(figures).map(([name, value]) => `  ${name.padEnd(16)} ${decimal(value, 3)}`),
];

/** What `policy eval --recipe` prints for people. */
export function recipeEvaluationLines(
  recipe: string,
  name: string,
  version: number,
  { compared, ...evaluation }: RecipeEvaluation,
): string[] {
  const lines = [`${name} ${version} as ${recipe} is evaluated`, ...figureLines(evaluation)];
  if (!compared) return lines;
  const before = compared.evaluation.heldOut.accuracy;
  const { accuracy } = compared.changes;
  return [
    ...lines,
    `${name} ${compared.version}`,
    ...figureLines(compared.evaluation),
    `against version ${compared.version}: ${points(evaluation.heldOut.accuracy - before)} points${accuracy?.p == null ? '' : `, exact paired test ${pWords(accuracy.p)}`}`,
  ];
}

/** What `policy solve --recipe` prints for people. */
export function recipeSolvedLines(
  recipe: string,
  name: string,
  version: number,
  ways: readonly RecipeWay[],
): string[] {
  const [greedy] = ways;
  const widest = Math.max(...ways.map(({ way }) => way.length));
  const columns = (way: string, ...others: string[]) =>
    `  ${way.padEnd(widest)} ${others.map((text, i) => text.padStart([9, 8, 13, 24][i]!)).join('')}`.trimEnd();
  return [
    `${name} ${version} as ${recipe} is evaluated, on ${greedy!.evaluation.heldOut.n}`,
    columns('', 'tokens', 'score', 'over greedy', 'exact paired test'),
    ...ways.map(({ way, tokens, evaluation: { heldOut }, changes: { accuracy } }, i) =>
      columns(
        way,
        wholeNumber(tokens),
        percent(heldOut.accuracy, 1),
        ...(i === 0 ? [] : [points(heldOut.accuracy - greedy!.evaluation.heldOut.accuracy)]),
        ...(accuracy?.p == null ? [] : [pWords(accuracy.p)]),
      ),
    ),
  ];
}

const refs = (text: string, before: readonly PolicyRef[] = []): PolicyRef[] => [...before, versionName(text)];

const rowText = (
  { player, against, score, interval: [low, high], return: value, n, unended }: LeagueRow,
  width: number,
): string =>
  `  ${player.padEnd(width)} ${(player === against ? 'itself' : against).padEnd(width)} ${percent(score, 1).padStart(7)}  (95 %: ${percent(low, 1)} to ${percent(high, 1)})  return ${decimal(value, 2)}, n ${n}${unended ? `, ${unended} not ended` : ''}`;

interface LeagueOptions extends Common {
  readonly recipe: string;
  readonly world?: string;
  readonly deals: number;
  readonly engine: Engine;
}

export function addLeague(parent: Command): void {
  subcommand(parent, 'league', 'versions of one or several runs meet each other in the games of a recipe')
    .argument('<versions...>', 'two or more, each NAME@N', refs)
    .requiredOption('--recipe <recipe>', 'a recipe over games, such as spiral')
    .option('--world <module>', 'a game of your own (docs/games.md)')
    .option('--deals <n>', 'held-out deals of each game, each from every side', whole(1), 50)
    .addOption(engineOption())
    .action(
      async (
        versions: readonly PolicyRef[],
        { recipe: reference, world, deals, engine, ...common }: LeagueOptions,
      ) => {
        const names = new Set(versions.map(({ name, version }) => `${name}@${version}`));
        if (versions.length < 2 || names.size < versions.length)
          throw wrongInput(
            'league.versions',
            `${versions.length} versions were named, ${names.size} of them different.`,
            {
              expected: 'two or more different versions',
              next: 'See `npx rollmesh policy list`.',
            },
          );
        const recipe = await recipeIn(reference, world);
        const kernels = kernelEngineOf(engine);
        const players = versions.map((ref) => ({ ...ref, ...(kernels ? { engine: kernels } : {}) }));
        const { playLeague } = await import('./by-recipe.ts');
        const rows = await withStore(common, (gateway) => playLeague(gateway, recipe, players, deals));
        if (common.json) {
          for (const row of rows) printJson({ kind: 'league', recipe: recipe.name, ...row });
          return;
        }
        const width = Math.max(...[...names].map((name) => name.length));
        for (const game of new Set(rows.map((row) => row.game))) {
          print(`${game}: score of each against each, ${deals} deals from every side`);
          for (const row of rows.filter((one) => one.game === game)) print(rowText(row, width));
        }
      },
    );
}
