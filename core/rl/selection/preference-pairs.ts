/** Preference pairs from scored responses to one prompt; ties make no pair, and missing scores are left out. */
import type { Random } from '../../random.ts';
import type { Maybe } from '../types.ts';

/** Positions of two responses in the list. */
export interface Pair {
  readonly chosen: number;
  readonly rejected: number;
}

const ranked = (scores: ArrayLike<Maybe>): { i: number; score: number }[] =>
  Array.from(scores)
    .flatMap((score, i) => (score === null ? [] : [{ i, score }]))
    .sort((a, b) => b.score - a.score);

/** The best response against the worst (self-rewarding, SPPO), the first of equals; null if all scores are equal. */
export function bestAgainstWorst(scores: ArrayLike<Maybe>): Pair | null {
  const order = ranked(scores);
  const best = order[0];
  const worst = order.find(({ score }) => score === order.at(-1)?.score);
  return best && worst && best.score > worst.score ? { chosen: best.i, rejected: worst.i } : null;
}

/** `count` pairs of a random member of the upper and one of the lower half by score (SWEET-RL); ties are dropped. */
export function randomHalves(scores: ArrayLike<Maybe>, count: number, random: Random): Pair[] {
  const order = ranked(scores);
  const half = Math.floor(order.length / 2);
  if (half === 0) return [];
  return Array.from({ length: count }, () => ({
    upper: random.pick(order.slice(0, half)),
    lower: random.pick(order.slice(-half)),
  })).flatMap(({ upper, lower }) =>
    upper.score > lower.score ? [{ chosen: upper.i, rejected: lower.i }] : [],
  );
}

/** Pairs of every response with a score above `threshold` and every one at or below it, at most `limit`, drawn by `random`. */
export function acrossThreshold(
  scores: ArrayLike<Maybe>,
  threshold: number,
  limit: number,
  random: Random,
): Pair[] {
  const order = ranked(scores);
  const above = order.filter(({ score }) => score > threshold);
  const below = order.filter(({ score }) => score <= threshold);
  const all = above.flatMap((chosen) =>
    below.map((rejected) => ({ chosen: chosen.i, rejected: rejected.i })),
  );
  return random.shuffle(all).slice(0, limit);
}

/**
 * Each response's mean probability of being preferred over the others of its prompt, itself counted as ½ (SPPO):
 * preference[i][j] = P(i is preferred to j) -> win rates [K].
 */
export const winRates = (preference: readonly (readonly number[])[]): number[] =>
  preference.map(
    (row, i) => row.reduce((sum, p, j) => sum + (i === j ? 0.5 : p), 0) / Math.max(1, row.length),
  );
