/** Means over the first and the last rounds of a run, because the figures of one small round are noisy. */

/** How many rounds are averaged at either end. */
const WINDOW = 5;

export const known = (values: readonly (number | null)[]): number[] =>
  values.filter((value) => value !== null);

const mean = (values: readonly number[]): number | null =>
  values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;

/** Means of the known values of the first and of the last rounds; the two windows never overlap. */
export function ends(values: readonly (number | null)[]): readonly [number | null, number | null] {
  const window = Math.max(1, Math.min(WINDOW, Math.floor(values.length / 2)));
  return [mean(known(values.slice(0, window))), mean(known(values.slice(-window)))];
}
