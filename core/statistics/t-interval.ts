/** Student's t distribution for few, paired measurements: the 95 % interval of the mean of one difference per seed. */
import { wrongInput } from '../errors.ts';
import { deviation, mean } from '../rl/statistics.ts';
import type { Numbers } from '../rl/types.ts';
import type { Interval } from './intervals.ts';

/**
 * P(|T| ≤ t) for a whole number of degrees of freedom, in closed form (Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964,
 * 26.7.3 and 26.7.4). With θ = arctan(t/√ν):
 *
 *     ν odd     2/π·(θ + sin θ·(cos θ + 2/3·cos³ θ + … up to cosᵛ⁻² θ))        ν = 1: 2θ/π
 *     ν even    sin θ·(1 + 1/2·cos² θ + (1·3)/(2·4)·cos⁴ θ + … up to cosᵛ⁻² θ)
 */
export function tWithin(t: number, freedom: number): number {
  const theta = Math.atan(t / Math.sqrt(freedom));
  const [sin, cos] = [Math.sin(theta), Math.cos(theta)];
  const odd = freedom % 2;
  let term = odd ? cos : 1;
  let sum = 0;
  for (let power = odd; power <= freedom - 2; power += 2) {
    sum += term;
    term *= ((power + 1) / (power + 2)) * cos ** 2;
  }
  return odd ? (2 / Math.PI) * (theta + sin * sum) : sin * sum;
}

/** The t with P(|T| ≤ t) = `level`, by bisection. Throws `wrong-input` unless `freedom` is a whole number from 1 and 0 < level < 1. */
export function tQuantile(freedom: number, level = 0.95): number {
  if (!Number.isInteger(freedom) || freedom < 1 || !(level > 0 && level < 1))
    throw wrongInput('statistics.t', `There is no t for ${freedom} degrees of freedom at ${level}.`, {
      expected: 'a whole number of degrees of freedom from 1, and a level between 0 and 1',
    });
  let [low, high] = [0, 1];
  while (tWithin(high, freedom) < level) high *= 2;
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2;
    if (tWithin(middle, freedom) < level) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * The 95 % interval of the mean of independent measurements: mean ± t·s/√n, with s the standard deviation (ddof 1) and t of n − 1 degrees
 * of freedom. A single measurement, or one that is not finite, has the unbounded interval: it says nothing about its spread.
 */
export function tInterval(values: Numbers): Interval & { readonly mean: number } {
  const centre = mean(values);
  if (values.length < 2 || !Number.isFinite(centre))
    return { mean: centre, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  const half = (tQuantile(values.length - 1) * deviation(values, 1)) / Math.sqrt(values.length);
  return { mean: centre, low: centre - half, high: centre + half };
}
