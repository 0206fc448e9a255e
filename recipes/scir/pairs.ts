/** The two internal reward models of a policy on pairs of its own responses: what its judge prefers, and what its training has made likelier. */
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { bestAgainstWorst } from '../../core/rl/selection/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';

/** Two responses to one prompt, in the order of the judge’s scores. */
export interface JudgedPair {
  readonly task: string;
  readonly chosen: Sample;
  readonly rejected: Sample;
}

/** The responses of each group by reward; equal rewards make no pair. */
export const judgedPairs = (groups: readonly ScoredGroup[]): JudgedPair[] =>
  groups.flatMap(({ task, samples }) => {
    const pair = bestAgainstWorst(samples.map(({ rewards }) => rewards.reward ?? null));
    return pair ? [{ task, chosen: samples[pair.chosen]!, rejected: samples[pair.rejected]! }] : [];
  });

const sumOf = (row: Float32Array): number => row.reduce((sum, logprob) => sum + logprob, 0);

/**
 * By how much the implicit reward of the chosen response is above that of the rejected one, in units of β: the difference of their
 * Σ log(π/π_start), nats [pairs]. 0 everywhere before anything is trained.
 */
export async function implicitMargins(
  pairs: readonly JudgedPair[],
  { score }: Pick<LearnTools, 'score'>,
): Promise<number[]> {
  const responses = pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]);
  const now = await score(MAIN_SET, responses);
  const start = await score(MAIN_SET, responses, 0);
  const rewards = responses.map((_, i) => sumOf(now[i]!) - sumOf(start[i]!));
  return pairs.map((_, i) => rewards[2 * i]! - rewards[2 * i + 1]!);
}

/** What a response is worth by an oracle, for the report alone. */
export type PointsOf = (task: string, response: Sample) => number;

/** By how many points the chosen response is better than the rejected one [pairs]. */
export const pointMargins = (pairs: readonly JudgedPair[], pointsOf: PointsOf): number[] =>
  pairs.map(({ task, chosen, rejected }) => pointsOf(task, chosen) - pointsOf(task, rejected));

/** The share of pairs with unequal points on which a preference has the sign of the points; undefined where there are none. [pairs] each */
export function rightShare(preferences: readonly number[], points: readonly number[]): number | undefined {
  const told = points.flatMap((margin, i) =>
    margin === 0 ? [] : [Number(Math.sign(preferences[i]!) === Math.sign(margin))],
  );
  return told.length ? mean(told) : undefined;
}
