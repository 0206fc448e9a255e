/** 95 % confidence intervals of shares. */
import { wrongInput } from '../errors.ts';
import { mean, variance } from '../rl/statistics.ts';
import type { Numbers } from '../rl/types.ts';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The normal distribution's 97.5th percentile. */
export const Z95 = 1.959963984540054;

/**
 * Wilson's score interval of a share p of n trials (Wilson, "Probable inference, the law of succession, and statistical inference",
 * 1927): it stays inside [0, 1] and is honest for shares near 0 and 1, where p ± z·√(p(1 − p)/n) is not. n need not be whole.
 *
 *     centre = (p + z²/2n) / (1 + z²/n)      half = z·√(p(1 − p)/n + z²/4n²) / (1 + z²/n)
 */
export function wilsonInterval(share: number, n: number, z = Z95): Interval {
  if (!(share >= 0 && share <= 1 && n > 0))
    throw wrongInput('statistics.share', `A share of ${share} of ${n} trials has no interval.`, {
      expected: 'a share in [0, 1] of more than 0 trials',
    });
  const scale = 1 + z ** 2 / n;
  const centre = (share + z ** 2 / (2 * n)) / scale;
  const half = (z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))) / scale;
  // At a share of 0 or 1 the bound equals the share but for rounding.
  return { low: share === 0 ? 0 : centre - half, high: share === 1 ? 1 : centre + half };
}

/**
 * Interval of the mean of `shares`, one share of right samples a question, each in [0, 1]. Samples of one question are not
 * independent, so the number of trials is the effective one, p(1 − p) / SE² with the standard error over questions (clustered standard
 * errors: Miller, "Adding Error Bars to Evals", 2024, arXiv:2411.00640). With one sample a question it is Wilson's interval of n.
 */
export function clusteredInterval(shares: Numbers, z = Z95): Interval {
  const share = mean(shares);
  const squaredError = variance(shares, 0) / shares.length;
  const effective = squaredError > 0 ? (share * (1 - share)) / squaredError : shares.length;
  return wilsonInterval(share, effective, z);
}
