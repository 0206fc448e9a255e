/**
 * Evaluation of a judge that compares, on natural pairs: for held-out tasks one right and one wrong answer that a writer sampled at version 0, shown
 * in both orders. The oracle selects the pairs and checks the verdicts; no reward uses either.
 */
import type { Choice } from '../../core/game/verbs.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation, type Tally } from '../../core/schema/evaluation.ts';
import { shareOf, tallyOf } from '../../core/statistics/change.ts';
import { asked } from '../../protocols/evaluate/asked.ts';
import { type ComparedGame, WRITER } from './constructed-pairs.ts';

/** A right and a wrong answer, as texts. */
export interface NaturalPair {
  readonly task: string;
  readonly right: string;
  readonly wrong: string;
}

/** How verdicts are made to begin with a check, and whether one did, in worlds where that can be told from the text. */
export interface Checks {
  readonly prefix: string;
  readonly isIn: (task: string, text: string) => boolean;
}

/** The number of held-out tasks that are asked, and of answers to each. A task whose answers are all right or all wrong gives no pair. */
const TASKS = 320;
const SAMPLES = 4;

/** The first right and the first wrong answer of a writer with steps, where both exist. */
async function naturalPairs(game: ComparedGame, stage: RoundContext): Promise<NaturalPair[]> {
  const family = rendered(game.family, stage);
  const { workedPrefix } = family;
  const tasks = family.heldOut(stage.evaluationTasks).slice(0, TASKS);
  const said = await asked(stage, WRITER, tasks, {
    prompt: (task) => family.solverPrompt(task) + workedPrefix,
    key: (task) => ['pair', task],
    samples: SAMPLES,
    temperature: 1,
  });
  return tasks.flatMap((task, t) => {
    const answers = said[t]!.flatMap(({ text }) => {
      const parsed = family.parseSolution(task, workedPrefix + text);
      if (!parsed.ok) return [];
      return [{ text: game.write(parsed.value), exact: family.answerIsExact(task, parsed.value) }];
    });
    const right = answers.find(({ exact }) => exact);
    const wrong = answers.find(({ exact }) => !exact);
    return right && wrong ? [{ task, right: right.text, wrong: wrong.text }] : [];
  });
}

/** The verdicts on a pair, with the right answer shown first and shown second; null where a verdict does not parse. */
type Verdicts = readonly [Choice | null, Choice | null];

async function compare(
  { words }: ComparedGame,
  context: EvaluationContext,
  judge: string,
  pairs: readonly NaturalPair[],
  temperature: number,
  { prefix, isIn }: Checks = { prefix: '', isIn: () => false },
): Promise<{ readonly verdicts: Verdicts[]; readonly checked: Tally }> {
  const shown = pairs.flatMap(({ task, right, wrong }) => [
    { task, first: right, second: wrong },
    { task, first: wrong, second: right },
  ]);
  const said = await asked(context, judge, shown, {
    prompt: (about) => words.compare.ask(about, context) + prefix,
    key: (_, i) => ['compare', i],
    temperature,
    topP: 1,
  });
  const texts = said.map(([verdict]) => prefix + verdict!.text);
  const choices = texts.map((text, i) => {
    const parsed = words.compare.read(text, shown[i]!, context);
    return parsed.ok ? parsed.value : null;
  });
  return {
    verdicts: pairs.map((_, p): Verdicts => [choices[2 * p]!, choices[2 * p + 1]!]),
    checked: tallyOf(
      pairs.map(({ task }, p) => texts.slice(2 * p, 2 * p + 2).filter((text) => isIn(task, text)).length),
      2,
    ),
  };
}

/** Right verdicts on each pair, of its two orders; a comparison that does not parse is wrong. */
export const pairTally = (verdicts: readonly Verdicts[]): Tally =>
  tallyOf(
    verdicts.map(([first, second]) => Number(first === 'A') + Number(second === 'B')),
    2,
  );

/** |share of A - share of B| among the verdicts that parse: 0 if the position makes no difference, 1 if always the same position is chosen. */
export function positionBias(verdicts: readonly Verdicts[]): number {
  const choices = verdicts.flat().flatMap((choice) => (choice ? [choice === 'A' ? 1 : -1] : []));
  return Math.abs(mean(choices));
}

/** The share of pairs for which both orders lead to the same answer. */
export const consistency = (verdicts: readonly Verdicts[]): number =>
  mean(verdicts.map(([first, second]) => Number(first !== null && second !== null && first !== second)));

/**
 * `accuracy` is greedy, `sampled` is at the judge's temperature, `forcedWorked` is greedy with a forced check; `worked` is the share of verdicts with
 * a check. A writer that was right or wrong at all held-out tasks leaves no pairs, and nothing to measure.
 */
export async function evaluatePairs(
  game: ComparedGame,
  context: EvaluationContext,
  {
    judge,
    temperature,
    checks,
  }: { readonly judge: string; readonly temperature: number; readonly checks?: Checks },
): Promise<Evaluation> {
  const pairs = await context.once('pairs', () => naturalPairs(game, context.atStart));
  if (pairs.length === 0) return evaluation({ n: 0, accuracy: 0, tallies: { accuracy: pairTally([]) } });
  const unforced = checks && { ...checks, prefix: '' };
  const greedy = await compare(game, context, judge, pairs, 0, unforced);
  const sampled = await compare(game, context, judge, pairs, temperature, unforced);
  const forced = checks && (await compare(game, context, judge, pairs, 0, checks));
  const tallies = {
    accuracy: pairTally(greedy.verdicts),
    sampled: pairTally(sampled.verdicts),
    ...(forced ? { forcedWorked: pairTally(forced.verdicts), worked: greedy.checked } : {}),
  };
  const parses = greedy.verdicts.flat().filter((choice) => choice !== null).length;
  const read = (verdicts: readonly Verdicts[]) => verdicts.flat().some((choice) => choice !== null);
  return evaluation(
    {
      n: 2 * pairs.length,
      accuracy: shareOf(tallies.accuracy),
      sampled: shareOf(tallies.sampled),
      ...(forced
        ? { forcedWorked: shareOf(pairTally(forced.verdicts)), worked: shareOf(greedy.checked) }
        : {}),
      formatRate: parses / (2 * pairs.length),
      tallies,
    },
    {
      ...(read(greedy.verdicts) ? { bias: positionBias(greedy.verdicts) } : {}),
      ...(read(sampled.verdicts) ? { sampledBias: positionBias(sampled.verdicts) } : {}),
      consistency: consistency(greedy.verdicts),
      ...(checks ? { checked: shareOf(sampled.checked) } : {}),
    },
  );
}
