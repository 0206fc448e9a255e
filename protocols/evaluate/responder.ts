/**
 * What the held-out string transformations show of a version: the points of its responses and their length. The oracle gives the points, apart from
 * every reward.
 */
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { tallyOf } from '../../core/statistics/change.ts';
import { STYLE_POINTS, stylePrompt, styleScore, wordsOf } from '../../worlds/style/family.ts';
import { RESPONDER, responseOf } from '../style-responder.ts';
import { asked } from './asked.ts';

export interface Answered {
  readonly task: string;
  readonly response: string | null;
  /** Points of the rubric, 0 … 5; a text that is no response has none. */
  readonly score: number;
}

/** One response to each task. */
export async function answers(
  context: RoundContext,
  tasks: readonly string[],
  seed: string,
  temperature?: number,
): Promise<readonly Answered[]> {
  const said = await asked(context, RESPONDER, tasks, {
    prompt: (task) => stylePrompt(task),
    key: (task) => [seed, task],
    ...(temperature === undefined ? {} : { temperature }),
  });
  return tasks.map((task, i) => {
    const response = responseOf(context, said[i]![0]!);
    return { task, response, score: response === null ? 0 : styleScore(task, response) };
  });
}

/** What every recipe of this kind reports of a version: the mean share of the rubric's points, greedy and sampled, and the words of a response. */
export function examined(
  greedy: readonly Answered[],
  sampled: readonly Answered[],
  figures: Readonly<Record<string, number | null>>,
): Evaluation {
  const share = (answers: readonly Answered[]) => mean(answers.map(({ score }) => score)) / STYLE_POINTS;
  const points = (answers: readonly Answered[]) =>
    tallyOf(
      answers.map(({ score }) => score),
      STYLE_POINTS,
    );
  const lengths = sampled.flatMap(({ response }) => (response === null ? [] : [wordsOf(response)]));
  const measured = Object.entries({ words: mean(lengths), ...figures }).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
  return evaluation(
    {
      n: greedy.length,
      accuracy: share(greedy),
      sampled: share(sampled),
      formatRate: mean(greedy.map(({ response }) => Number(response !== null))),
      tallies: { accuracy: points(greedy), sampled: points(sampled) },
    },
    Object.fromEntries(measured),
  );
}
