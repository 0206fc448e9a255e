/**
 * What the held-out string transformations show of a version, by the oracle and apart from every reward: points of its responses,
 * their length, and how well its judge orders responses.
 */
import { deriveId } from '../random.ts';
import { rankCorrelation } from '../rl/rank-correlation.ts';
import { mean } from '../rl/statistics.ts';
import { type Evaluation, evaluation } from '../schema/evaluation.ts';
import { heldOutTasks } from '../tasks/split.ts';
import { isHeldOutStyle, randomStyleTask, stylePrompt, styleScore, wordsOf } from '../tasks/style.ts';
import { RESPONDER, responseOf, STYLE_POINTS } from './respond.ts';
import { scoreResponses } from './score-responses.ts';
import type { Stage } from './stage.ts';

/** Held-out tasks, the same in every run. */
export const heldOutStyle = heldOutTasks(
  'style',
  400,
  (random, heldOut) => randomStyleTask(random, undefined, heldOut),
  isHeldOutStyle,
);

export interface Answered {
  readonly task: string;
  readonly response: string | null;
  /** Points of the rubric, 0 … 5; a text that is no response has none. */
  readonly score: number;
}

/** One response to each task. */
export async function answers(
  stage: Stage,
  tasks: readonly string[],
  seed: string,
  temperature?: number,
): Promise<readonly Answered[]> {
  const prompts = tasks.map((task) => ({
    ids: stage.tokenizer.encode(stylePrompt(task)),
    sampleIds: [deriveId('evaluate', seed, task)],
  }));
  const change = temperature === undefined ? {} : { temperature };
  const completions = await stage.generate(RESPONDER, prompts, change);
  return tasks.map((task, i) => {
    const response = responseOf(stage, completions[i]![0]!);
    return { task, response, score: response === null ? 0 : styleScore(task, response) };
  });
}

/** What every such recipe reports of a version: mean share of the rubric's points, greedy and sampled, and words a response. */
export function examined(
  greedy: readonly Answered[],
  sampled: readonly Answered[],
  figures: Readonly<Record<string, number | null>>,
): Evaluation {
  const share = (answers: readonly Answered[]) => mean(answers.map(({ score }) => score)) / STYLE_POINTS;
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
    },
    Object.fromEntries(measured),
  );
}

/** Mean points as if lengths were still spread as in `reference`: what a change of length alone cannot move. */
export function pointsAtLengths(answers: readonly Answered[], reference: readonly Answered[]): number {
  const lengthOf = ({ response }: Answered) => (response === null ? 0 : wordsOf(response));
  const strata = [...new Set(answers.map(lengthOf))].map((length) => ({
    share: reference.filter((answer) => lengthOf(answer) === length).length,
    points: mean(answers.filter((answer) => lengthOf(answer) === length).map(({ score }) => score)),
  }));
  const covered = strata.reduce((sum, { share }) => sum + share, 0);
  return covered ? strata.reduce((sum, { share, points }) => sum + share * points, 0) / covered : 0;
}

/** Rank correlation of this version's scores with the rubric's points on given responses. */
export async function judgeCorrelation(
  exam: Stage,
  answers: readonly Answered[],
  votes: number,
): Promise<number | null> {
  const items = answers.flatMap(({ task, response, score }, i) =>
    response === null ? [] : [{ task, response, score, id: `exam/${i}` }],
  );
  const scorings = await scoreResponses(exam, items, votes);
  const both = items.flatMap(({ score }, i) => {
    const given = scorings[i]!.score;
    return given === null ? [] : [{ given, score }];
  });
  return rankCorrelation(
    both.map(({ given }) => given),
    both.map(({ score }) => score),
  );
}
