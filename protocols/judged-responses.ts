/**
 * What responses to string transformations are worth by a judge that writes a score of each (worlds/style/family.ts), or by what stands in its place:
 * the points of the rubric, the form alone, or a coin.
 */
import type { RoundContext } from '../core/recipe/round-context.ts';
import type { ParseResult } from '../core/recipe/task-family.ts';
import { mean } from '../core/rl/statistics.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { parseScore, STYLE_POINTS, styleJudgePrompt, styleScore } from '../worlds/style/family.ts';
import { ask } from './ask-about-samples.ts';
import { coinOf, sealedGold } from './gold.ts';
import { rated, responseOf } from './style-responder.ts';

/** The mean of the scores that parse, as a share of the points; null where none parses. */
export function meanScore(scores: readonly ParseResult<number>[]): number | null {
  const read = scores.flatMap((score) => (score.ok ? [score.value] : []));
  return read.length ? mean(read) / STYLE_POINTS : null;
}

export interface ScoringJudge {
  readonly role: string;
  /** How many scores it writes of each response. */
  readonly votes: number;
  /** What a response is worth by its scores, as a share of the points; default `meanScore`. */
  readonly worth?: (response: string, scores: readonly ParseResult<number>[]) => number | null;
}

interface Responded {
  readonly task: string;
  /** Id of its sample. */
  readonly id: string;
  readonly response: string;
}

/** What a response is worth without a judge, by the run's reward function, as a share of the points: by the rubric, the form or a coin. */
function worthWithoutJudge(context: RoundContext, { task, id, response }: Responded): number {
  const { rewardFunction } = context.round.settings;
  if (rewardFunction === 'format') return 1;
  if (rewardFunction === 'random') return Number(coinOf(id));
  return sealedGold(context, styleScore(task, response) / STYLE_POINTS)();
}

/** The judge stage of a recipe without a judge; a text that is no response earns 0. */
export const ratedWithoutJudge = (context: RoundContext, groups: readonly RolloutGroup[]): ScoredGroup[] =>
  rated(
    groups,
    new Map(
      groups.flatMap(({ task, samples }) =>
        samples.map((sample) => {
          const response = responseOf(context, sample);
          const { id } = sample;
          return [id, response === null ? 0 : worthWithoutJudge(context, { task, id, response })] as const;
        }),
      ),
    ),
  );

/** The worth of each response by the run's reward function, as a share of the points, by its sample's id; and the judge's samples. */
export async function worthOfResponses(
  context: RoundContext,
  groups: readonly RolloutGroup[],
  { role, votes, worth = (_, scores) => meanScore(scores) }: ScoringJudge,
): Promise<{ readonly worth: ReadonlyMap<string, number | null>; readonly judgments: readonly Sample[] }> {
  const { rewardFunction } = context.round.settings;
  const responses = groups.flatMap(({ task, samples }) =>
    samples.map((sample) => ({ task, id: sample.id, response: responseOf(context, sample) })),
  );
  const nothing = responses.flatMap(({ id, response }) => (response === null ? [[id, 0] as const] : []));
  const asked: readonly Responded[] = responses.flatMap(({ task, id, response }) =>
    response === null ? [] : [{ task, id, response }],
  );
  if (rewardFunction !== 'judge') {
    return {
      worth: new Map([...nothing, ...asked.map((one) => [one.id, worthWithoutJudge(context, one)] as const)]),
      judgments: [],
    };
  }
  const answers = await ask(
    context,
    role,
    asked.map(({ task, id, response }) => ({
      of: id,
      prompt: styleJudgePrompt(task, response),
      parse: parseScore,
    })),
    votes,
  );
  const scored = asked.map(
    ({ id, response }, i) =>
      [
        id,
        worth(
          response,
          answers[i]!.map(({ parsed }) => parsed),
        ),
      ] as const,
  );
  return { worth: new Map([...nothing, ...scored]), judgments: answers.flat().map(({ sample }) => sample) };
}
