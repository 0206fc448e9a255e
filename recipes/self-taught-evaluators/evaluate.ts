/**
 * Evaluation of a judge that compares, on natural pairs: for held-out tasks one right and one wrong answer that a writer sampled at version 0, shown
 * in both orders. The oracle selects the pairs and checks the verdicts; no reward uses either.
 */
import { deriveId } from '../../core/random.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { shareOf, tallyOf } from '../../core/statistics/change.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import {
  CHECK_PREFIX,
  type Comparison,
  pairPrompt,
  parseComparison,
} from '../../worlds/arithmetic/pairwise.ts';

/** A right and a wrong answer. */
export interface NaturalPair {
  readonly task: string;
  readonly right: string;
  readonly wrong: string;
}

/** The number of held-out tasks that are asked, and of answers to each. A task whose answers are all right or all wrong gives no pair. */
const TASKS = 320;
const SAMPLES = 4;

/** The first right and the first wrong answer of a writer with steps, where both exist. */
export async function naturalPairs(
  stage: Pick<RoundContext, 'tokenizer' | 'generate' | 'evaluationTasks'>,
  writer: string,
): Promise<NaturalPair[]> {
  const { tokenizer } = stage;
  const { workedPrefix } = arithmetic;
  const tasks = arithmetic.heldOut(stage.evaluationTasks).slice(0, TASKS);
  const completions = await stage.generate(
    writer,
    tasks.map((task) => ({
      ids: tokenizer.encode(arithmetic.solverPrompt(task) + workedPrefix),
      sampleIds: Array.from({ length: SAMPLES }, (_, i) => deriveId('evaluate', 'pair', task, i)),
    })),
    { temperature: 1 },
  );
  return tasks.flatMap((task, t) => {
    const answers = completions[t]!.flatMap(({ ids }) => {
      const parsed = arithmetic.parseSolution(task, workedPrefix + tokenizer.decode(ids));
      if (!parsed.ok) return [];
      return [{ answer: parsed.value.answer, exact: arithmetic.answerIsExact(task, parsed.value) }];
    });
    const right = answers.find(({ exact }) => exact);
    const wrong = answers.find(({ exact }) => !exact);
    return right && wrong ? [{ task, right: right.answer, wrong: wrong.answer }] : [];
  });
}

/** The verdicts on a pair, with the right answer shown first and shown second; null where a verdict does not parse. */
type Verdicts = readonly [Comparison | null, Comparison | null];

async function compare(
  { tokenizer, generate }: Pick<RoundContext, 'tokenizer' | 'generate'>,
  judge: string,
  pairs: readonly NaturalPair[],
  temperature: number,
  prefix = '',
): Promise<Verdicts[]> {
  const shown = pairs.flatMap(({ task, right, wrong }) => [
    pairPrompt(task, right, wrong),
    pairPrompt(task, wrong, right),
  ]);
  const completions = await generate(
    judge,
    shown.map((prompt, i) => ({
      ids: tokenizer.encode(prompt + prefix),
      sampleIds: [deriveId('evaluate', 'compare', i)],
    })),
    { temperature, topP: 1 },
  );
  const parses = completions.map(([completion], i) =>
    parseComparison(pairs[i >> 1]!.task, prefix + tokenizer.decode(completion!.ids)),
  );
  return pairs.map((_, p) => {
    const [first, second] = [parses[2 * p]!, parses[2 * p + 1]!];
    return [first.ok ? first.value : null, second.ok ? second.value : null];
  });
}

/** Right verdicts on each pair, of its two orders; a comparison that does not parse is wrong. */
export const pairTally = (verdicts: readonly Verdicts[]) =>
  tallyOf(
    verdicts.map(([first, second]) => Number(first?.choice === 'A') + Number(second?.choice === 'B')),
    2,
  );

const checksOf = (verdicts: readonly Verdicts[]) =>
  tallyOf(
    verdicts.map((both) => both.filter((comparison) => (comparison?.totals.length ?? 0) > 0).length),
    2,
  );

/** |share of A - share of B| among the verdicts that parse: 0 if the position makes no difference, 1 if always the same position is chosen. */
export function positionBias(verdicts: readonly Verdicts[]): number {
  const choices = verdicts
    .flat()
    .flatMap((comparison) => (comparison ? [comparison.choice === 'A' ? 1 : -1] : []));
  return Math.abs(mean(choices));
}

/** The share of pairs for which both orders lead to the same answer. */
export const consistency = (verdicts: readonly Verdicts[]): number =>
  mean(
    verdicts.map(([first, second]) =>
      Number(first !== null && second !== null && first.choice !== second.choice),
    ),
  );

/**
 * `accuracy` is greedy, `sampled` is at the judge's temperature, `forcedWorked` is greedy with a forced check; `worked` is the share of verdicts with
 * a check.
 */
export async function evaluatePairs(
  context: EvaluationContext,
  {
    writer,
    judge,
    temperature,
  }: { readonly writer: string; readonly judge: string; readonly temperature: number },
): Promise<Evaluation> {
  const pairs = await context.once('pairs', () => naturalPairs(context.atStart, writer));
  const greedy = await compare(context, judge, pairs, 0);
  const sampled = await compare(context, judge, pairs, temperature);
  const forced = await compare(context, judge, pairs, 0, CHECK_PREFIX);
  const tallies = {
    accuracy: pairTally(greedy),
    sampled: pairTally(sampled),
    forcedWorked: pairTally(forced),
    worked: checksOf(greedy),
  };
  return evaluation(
    {
      n: 2 * pairs.length,
      accuracy: shareOf(tallies.accuracy),
      sampled: shareOf(tallies.sampled),
      forcedWorked: shareOf(tallies.forcedWorked),
      worked: shareOf(tallies.worked),
      tallies,
      formatRate: mean(greedy.flat().map((comparison) => Number(comparison !== null))),
    },
    {
      bias: positionBias(greedy),
      sampledBias: positionBias(sampled),
      consistency: consistency(greedy),
      checked: shareOf(checksOf(sampled)),
    },
  );
}
