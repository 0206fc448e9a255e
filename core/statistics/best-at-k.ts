/**
 * Best-of-k by a scorer, from n samples of a question: the chance that the sample with the highest score among k of the n, drawn without replacement, is
 * right. Exact: subsets are counted. Samples of equal score are chosen among by chance.
 */
import { wrongInput } from '../errors.ts';

export interface ScoredSample {
  readonly score: number;
  readonly right: boolean;
}

/** One of the distinct texts that the samples of a question have. */
export interface TextCount {
  readonly count: number;
  readonly right: boolean;
}

/** C(n, k) in floating point; 0 beyond n. */
function choose(n: number, k: number): number {
  let out = k > n ? 0 : 1;
  for (let i = 1; i <= k && out > 0; i++) out *= (n - k + i) / i;
  return out;
}

function expectK(n: number, k: number): void {
  if (Number.isInteger(k) && k >= 1 && k <= n && n <= 1000) return;
  throw wrongInput('statistics.best-at-k', `best@${k} was asked of ${n} samples.`, {
    expected: 'a whole number k with 1 ≤ k ≤ n, and n ≤ 1000',
    next: 'Draw at least k samples of every question.',
  });
}

/** In [0, 1]. A score that is not a number counts as the lowest. Throws `wrong-input` unless 1 ≤ k ≤ n. */
export function bestAtK(samples: readonly ScoredSample[], k: number): number {
  const n = samples.length;
  expectK(n, k);
  const rankOf = ({ score }: ScoredSample) => (Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score);
  const sorted = [...samples].sort((a, b) => (rankOf(a) < rankOf(b) ? 1 : rankOf(a) > rankOf(b) ? -1 : 0));
  let sum = 0;
  for (let from = 0; from < n; ) {
    const tied = sorted.filter((one) => rankOf(one) === rankOf(sorted[from]!));
    // Subsets without anything better, less those without these either.
    const best = choose(n - from, k) - choose(n - from - tied.length, k);
    sum += (best * tied.filter(({ right }) => right).length) / tied.length;
    from += tied.length;
  }
  return Math.min(1, sum / choose(n, k));
}

/**
 * What a scorer that knows nothing reaches: one that gives every distinct text a random score, so that each text among the k is as likely the best. It is
 * not the share of right samples, since a policy writes its right answers more often in the same words than its wrong ones.
 */
export function chanceAtK(texts: readonly TextCount[], k: number): number {
  const n = texts.reduce((sum, { count }) => sum + count, 0);
  expectK(n, k);
  let sum = 0;
  for (const [i, { count, right }] of texts.entries()) {
    if (!right) continue;
    // ways[distinct][samples] of the other texts.
    let ways: number[][] = [[1, ...new Array<number>(k).fill(0)]];
    for (const [j, other] of texts.entries()) {
      if (j === i) continue;
      const next = Array.from({ length: ways.length + 1 }, () => new Array<number>(k + 1).fill(0));
      for (const [distinct, row] of ways.entries())
        for (const [size, number] of row.entries())
          for (let take = 0; number > 0 && take <= other.count && size + take <= k; take++)
            next[distinct + (take > 0 ? 1 : 0)]![size + take]! += number * choose(other.count, take);
      ways = next;
    }
    for (const [distinct, row] of ways.entries())
      for (let take = 1; take <= Math.min(count, k); take++)
        sum += (row[k - take]! * choose(count, take)) / (distinct + 1);
  }
  return Math.min(1, sum / choose(n, k));
}
