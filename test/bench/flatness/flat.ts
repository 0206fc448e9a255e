/** The criterion for flat memory, fixed before anything is measured. */

/** The first rounds, which do not count, because caches fill and compilers warm up. */
export const WARM_UP = 20;
/** How many rounds at either end are compared, by their medians, which the garbage collector's sawtooth does not move. */
export const WINDOW = 20;
/** The largest ratio of the medians that counts as flat. */
export const MOST = 1.1;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}

export interface Flatness {
  /** The medians in bytes. */
  readonly early: number;
  readonly late: number;
  readonly growth: number;
  readonly flat: boolean;
}

/** Computes the flatness from a reading after each round, in order; null where there are too few rounds for two windows. */
export function flatnessOf(bytes: readonly number[]): Flatness | null {
  if (bytes.length < WARM_UP + 2 * WINDOW) return null;
  const early = median(bytes.slice(WARM_UP, WARM_UP + WINDOW));
  const late = median(bytes.slice(-WINDOW));
  const growth = late / early;
  return { early, late, growth, flat: growth <= MOST };
}
