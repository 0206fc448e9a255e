/**
 * A generator rewrites a line of a right solution to a chain, and a verifier of steps marks what comes of it: the moves of both, and what they
 * earn. The lines after the rewritten one follow from it, so that a wrong line is the only one.
 */
import { deriveId } from '../core/random.ts';
import { readTags } from '../core/recipe/reading.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { role } from '../core/recipe/role.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import { invalid, type Judgment, ok, type ParseResult, type Solution } from '../core/recipe/task-family.ts';
import { mean } from '../core/rl/statistics.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { plainProofs } from '../worlds/chains/analysis.ts';
import { chainMarks, STEP_TOKENS } from '../worlds/chains/family.ts';
import { chainWith, rewrittenLine } from '../worlds/chains/slips.ts';
import { isInteger, parseWorked, STOP, writeSolution } from '../worlds/worked.ts';
import { type Answer, ask, type Question } from './ask-about-samples.ts';
import { prefixOf } from './continue-prefixes.ts';
import { besideOracle } from './gold.ts';
import { rolloutIds } from './roll-out.ts';
import { samplePrompts } from './sample-prompts.ts';
import { SOLVER } from './solver.ts';
import { JUDGE } from './solver-verifier.ts';

/** The role that rewrites lines. */
export const GENERATOR = 'generator';

/** What ends a rewritten line. */
export const LINE_ENDS = ['<step>', '<answer>'] as const;

/** A right solution up to the line that is rewritten, which the generator goes on with. */
export function rewritePrompt(task: string): string {
  const kept = prefixOf(chainWith(task), rewrittenLine(task) - 1);
  return `${plainProofs.solverPrompt(task)}${kept}<step>`;
}

/** The solution that a generator's line makes; the lines after it follow from it. */
export function parseRewrite(task: string, text: string): ParseResult<Solution> {
  const end = LINE_ENDS.find((tag) => text.endsWith(tag));
  const said = end === undefined ? '' : text.slice(0, -end.length);
  return isInteger(said) ? ok(chainWith(task, rewrittenLine(task), said)) : invalid('off-grammar');
}

/** The solution that a sample's line makes. */
export const solutionMade = (
  { tokenizer }: Pick<RoundContext, 'tokenizer'>,
  task: string,
  { ids, outcome }: Pick<Sample, 'ids' | 'outcome'>,
): ParseResult<Solution> => (outcome === 'ok' ? parseRewrite(task, tokenizer.decode(ids)) : invalid(outcome));

/** What these recipes need that no file has. */
export const CHECKED_LINES = {
  datum: 'checker',
  which: 'solutions of which a checker can say line by line what is right',
} as const;

/** The solution that a verdict is about. */
export function solutionJudged({ id, about }: Pick<Sample, 'id' | 'about'>): Solution {
  const parsed = parseWorked(`${about}${STOP}`, { step: isInteger, answer: isInteger });
  if (parsed.ok) return parsed.value;
  throw new Error(`internal: verdict ${id} is about no solution`);
}

/** `round.settings.groupSize` lines for each task. */
export async function rewriteLines(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const samples = await samplePrompts(
    context,
    GENERATOR,
    tasks.map(({ group, task }) => ({
      prompt: rewritePrompt(task),
      sampleIds: rolloutIds(group, GENERATOR, round.settings.groupSize),
      parse: (text) => parseRewrite(task, text),
    })),
    { stop: LINE_ENDS.map((tag) => tokenizer.id(tag)) },
  );
  return tasks.map((task, t) => ({ round: round.id, ...task, samples: samples[t]! }));
}

/** By the oracle: does every line follow? */
export const isExact = (task: string, solution: Solution): boolean =>
  plainProofs.exactJudgment(task, solution).right;

/** Does a verdict mark each line as the checker does? */
export function marksExactly(task: string, solution: Solution, verdict: ParseResult<Judgment>): boolean {
  const { steps } = plainProofs.exactJudgment(task, solution);
  return verdict.ok && steps.every((right, i) => verdict.value.steps[i] === right);
}

/** The share of the verdicts that let the rewritten line pass; null of none that parses. */
export function passedShare(task: string, verdicts: readonly ParseResult<Judgment>[]): number | null {
  const line = rewrittenLine(task);
  const read = verdicts.flatMap((verdict) => (verdict.ok ? [Number(verdict.value.steps[line - 1])] : []));
  return read.length ? mean(read) : null;
}

/** What a line is paid: the share of verdicts that it fools, and -1 where it is right or does not parse. */
export const lineReward = (wrong: boolean | null, fooled: number | null): number | null =>
  wrong ? fooled : -1;

interface Shown {
  readonly task: string;
  readonly solution: Solution;
}

/** What is judged in a round, and what both players earn for it. */
export interface LineGame {
  /** Verdicts on each solution. */
  readonly votes: number;
  /** Is the right solution judged beside the rewritten ones? */
  readonly besideRight: boolean;
  /** What the verifier is shown in the place of a sample; nothing where it is not well-formed. */
  readonly shownFor: (task: string, sample: Sample) => ParseResult<Solution>;
  readonly payVerdict: (shown: Shown, answer: Answer<Judgment>) => number;
  /** `verdicts`: those on the solution `shown`. */
  readonly payLine: (
    task: string,
    sample: Sample,
    shown: ParseResult<Solution>,
    verdicts: readonly ParseResult<Judgment>[],
  ) => number | null;
}

/** Stage three: the verifier marks every line of what it is shown. */
export async function judgeRewrites(
  context: RoundContext,
  groups: readonly RolloutGroup[],
  { votes, besideRight, shownFor, payVerdict, payLine }: LineGame,
): Promise<ScoredGroup[]> {
  const shownGS = groups.map(({ task, samples }) => samples.map((sample) => shownFor(task, sample)));
  const rightKey = (group: string) => deriveId(group, 'right');
  const asked = groups.flatMap(({ group, task, samples }, g): (Question<Judgment> & Shown)[] => {
    const asking = (of: string, key: string, solution: Solution) => ({
      of,
      key,
      task,
      solution,
      about: writeSolution(solution),
      prompt: plainProofs.judgePrompt(task, solution),
      parse: (text: string) => plainProofs.parseJudgment(solution, text),
    });
    const right = besideRight ? [asking(samples[0]!.id, rightKey(group), chainWith(task))] : [];
    const rewritten = samples.flatMap(({ id }, s) => {
      const shown = shownGS[g]![s]!;
      return shown.ok ? [asking(id, id, shown.value)] : [];
    });
    return [...right, ...rewritten];
  });
  const answers = await ask(context, JUDGE, asked, votes);
  const byKey = new Map(asked.map(({ key }, q) => [key!, { ...asked[q]!, answers: answers[q]! }]));
  return groups.map((group, g): ScoredGroup => {
    const { task, samples } = group;
    const exact = shownGS[g]!.map((shown) => (shown.ok ? isExact(task, shown.value) : null));
    const keys = [rightKey(group.group), ...samples.map(({ id }) => id)];
    return {
      ...group,
      samples: samples.map((sample, s) => {
        const verdicts = (byKey.get(sample.id)?.answers ?? []).map(({ parsed }) => parsed);
        return { ...sample, rewards: { reward: payLine(task, sample, shownGS[g]![s]!, verdicts) } };
      }),
      judgments: keys.flatMap((key) => {
        const question = byKey.get(key);
        if (!question) return [];
        return question.answers.map((answer) => ({
          ...answer.sample,
          rewards: { reward: payVerdict(question, answer) },
          ...besideOracle(
            isExact(question.task, question.solution),
            answer.parsed.ok ? answer.parsed.value.right : null,
          ),
        }));
      }),
      answersExact: exact,
      solutionsExact: exact,
    };
  });
}

/** What recipes share in which a generator rewrites lines and a verifier marks them. `set`: the generator's weights. */
export const rewriting = (set: string) =>
  ({
    taskName: plainProofs.name,
    stop: plainProofs.stop,
    roles: {
      [GENERATOR]: role('writes a line of a solution that is wrong and passes', STEP_TOKENS, {
        speaksAs: SOLVER,
        set,
        seesGold: true,
      }),
      [JUDGE]: role('marks every line of a solution', plainProofs.maxNew.judge, { seesGold: true }),
    },
    freezable: [GENERATOR, JUDGE],
    describe: {
      difficulty: (task) => plainProofs.difficulty(task),
      parts: (role, text) => (role === JUDGE ? chainMarks : readTags)(text),
    },
  }) satisfies Partial<Recipe>;
