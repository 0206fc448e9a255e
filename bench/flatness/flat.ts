/** When memory counts as flat: decided here, before anything is measured. */

/** Rounds at the beginning that do not count: caches fill, and compilers warm up. */
export const WARM_UP = 20;
/** Rounds at either end whose median is compared: a garbage collector makes teeth, and a median does not see them. */
export const WINDOW = 20;
/** Growth of the median that is still flat. */
export const MOST = 1.1;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}

export interface Flatness {
  /** Medians, bytes. */
  readonly early: number;
  readonly late: number;
  readonly growth: number;
  readonly flat: boolean;
}

/** From one reading after each round, in order; null where there are too few rounds for two windows. */
export function flatnessOf(bytes: readonly number[]): Flatness | null {
  if (bytes.length < WARM_UP + 2 * WINDOW) return null;
  const early = median(bytes.slice(WARM_UP, WARM_UP + WINDOW));
  const late = median(bytes.slice(-WINDOW));
  const growth = late / early;
  return { early, late, growth, flat: growth <= MOST };
}
