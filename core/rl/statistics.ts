/** Means, deviations and whitening of plain lists; the conventions that differ between frameworks are arguments. */
import { expectSameLength, type Maybe, type Numbers } from './types.ts';

/** The values that are there. */
export const present = (values: ArrayLike<Maybe>): number[] =>
  Array.from(values).filter((value): value is number => value !== null);

/** Arithmetic mean; 0 of an empty list, so that an empty or fully masked batch stays finite. */
export function mean(values: Numbers): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return values.length === 0 ? 0 : sum / values.length;
}

/** Σ(x − mean)² / (n − ddof); 0 where there are too few values to tell. */
export function variance(values: Numbers, ddof: 0 | 1): number {
  if (values.length <= ddof) return 0;
  const centre = mean(values);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i]! - centre) ** 2;
  return sum / (values.length - ddof);
}

/** Standard deviation: ddof 1 = of a sample, ddof 0 = of a population. */
export const deviation = (values: Numbers, ddof: 0 | 1): number => Math.sqrt(variance(values, ddof));

/** Standard deviation of the values that are there (TRL's `nanstd` has ddof 1). */
export const deviationOfPresent = (values: ArrayLike<Maybe>, ddof: 0 | 1): number =>
  deviation(present(values), ddof);

/**
 * (x − mean)/√(var + 1e-8) over the counted values, as verl, TRL and SkyRL whiten token advantages.
 * mask [n]: a value counts in the statistics where it is not 0; the others are transformed alike, and the loss ignores them.
 */
export function whiten(values: Numbers, mask?: Numbers, ddof: 0 | 1 = 1, epsilon = 1e-8): number[] {
  if (mask) expectSameLength('values', values, 'mask entries', mask);
  const counted = Array.from(values).filter((_, i) => mask?.[i] !== 0);
  const centre = mean(counted);
  const scale = 1 / Math.sqrt(variance(counted, ddof) + epsilon);
  return Array.from(values, (value) => (value - centre) * scale);
}
