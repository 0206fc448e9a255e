/** Majority votes over answers that were already normalised to comparable keys; abstentions are null. */
import { positionsByKey } from '../groups.ts';
import type { Key } from '../types.ts';
import { entropyOfCounts } from './proposer-rewards.ts';

export interface Vote<K extends Key> {
  readonly answer: K;
  readonly count: number;
  /** Share of the answer among all that were asked, abstentions included. */
  readonly share: number;
  /** Entropy (nats) of the answers given. */
  readonly entropy: number;
}

/** Chooses among `n` equally frequent answers, in the order in which they were first given: a number from 0 to n - 1. */
export type TieBreak = (n: number) => number;
const FIRST_GIVEN: TieBreak = () => 0;

/** The most frequent answer; null if nobody answered. `tie` chooses among equally frequent ones, by default the one given first. */
export function majority<K extends Key>(
  answers: readonly (K | null)[],
  tie: TieBreak = FIRST_GIVEN,
): Vote<K> | null {
  const given = answers.filter((answer): answer is K => answer !== null);
  const groups = [...positionsByKey(given).values()];
  const counts = groups.map((positions) => positions.length);
  const top = Math.max(0, ...counts);
  const most = groups.filter((positions) => positions.length === top);
  if (!most.length) return null;
  const answer = given[most[most.length > 1 ? tie(most.length) : 0]![0]!]!;
  return { answer, count: top, share: top / answers.length, entropy: entropyOfCounts(counts) };
}

/** The answer with the largest sum of weights; null where no given answer has any weight. Among equal sums the answer given first wins. */
export function weightedMajority<K extends Key>(
  answers: readonly (K | null)[],
  weights: readonly number[],
): { readonly answer: K; readonly weight: number } | null {
  const sums = new Map<K, number>();
  for (const [i, answer] of answers.entries())
    if (answer !== null) sums.set(answer, (sums.get(answer) ?? 0) + weights[i]!);
  const best = [...sums].reduce<[K, number] | null>(
    (top, next) => (next[1] > (top?.[1] ?? 0) ? next : top),
    null,
  );
  return best && { answer: best[0], weight: best[1] };
}

/** Share [n] of the given answers that have the same key as each; null for an abstention. */
export function agreement(answers: readonly (Key | null)[]): (number | null)[] {
  const given = answers.filter((answer) => answer !== null);
  return answers.map((answer) =>
    answer === null ? null : given.filter((other) => other === answer).length / given.length,
  );
}

/**
 * 1 where the answer is the majority's, 0 where it differs or is missing [n] (TTRL's reward). A tie that the first answer always won would
 * favour the votes that are trained on, where only the first of them are: `tie` should not depend on the order.
 */
export function majorityRewards(answers: readonly (Key | null)[], tie?: TieBreak): number[] {
  const vote = majority(answers, tie);
  return answers.map((answer) => (vote !== null && answer === vote.answer ? 1 : 0));
}
