/** Compares two versions on the same questions, pair by pair, so that the difficulty of a question cancels out. */
import { deviation, mean } from '../rl/statistics.ts';
import { expectSameLength, type Numbers } from '../rl/types.ts';
import { type Interval, Z95 } from './intervals.ts';

export interface McNemar {
  /** Questions that only the first, or only the second version answers rightly; the others say nothing about the difference. */
  readonly onlyFirst: number;
  readonly onlySecond: number;
  /** The two-sided, exact probability of a split at least as uneven if both were equally good. */
  readonly p: number;
}

/** Σ C(n, i)·2⁻ⁿ for i ≤ most, by logarithms: n may be thousands. */
function binomialTail(n: number, most: number): number {
  let logTerm = -n * Math.LN2;
  let total = 0;
  for (let i = 0; i <= most; i++) {
    total += Math.exp(logTerm);
    logTerm += Math.log((n - i) / (i + 1));
  }
  return total;
}

/** McNemar's test in its exact, binomial form (McNemar, 1947): one right-or-wrong answer of each version to each question. */
export function mcNemar(first: readonly boolean[], second: readonly boolean[]): McNemar {
  expectSameLength('answers of the first version', first, 'answers of the second', second);
  const onlyFirst = first.filter((right, i) => right && !second[i]).length;
  const onlySecond = second.filter((right, i) => right && !first[i]).length;
  const p = Math.min(1, 2 * binomialTail(onlyFirst + onlySecond, Math.min(onlyFirst, onlySecond)));
  return { onlyFirst, onlySecond, p };
}

/**
 * Mean of second − first over questions, with its 95 % interval: mean ± 1.96·s/√n, s the standard deviation (ddof 1) of the differences.
 * Both are [questions], one share of right samples each. For some dozens of questions or more: the interval is the normal one.
 */
export function pairedDifference(first: Numbers, second: Numbers): Interval & { readonly mean: number } {
  expectSameLength('shares of the first version', first, 'shares of the second', second);
  const differences = Array.from(first, (share, i) => second[i]! - share);
  const centre = mean(differences);
  const half = (Z95 * deviation(differences, 1)) / Math.sqrt(differences.length || 1);
  return { mean: centre, low: centre - half, high: centre + half };
}
