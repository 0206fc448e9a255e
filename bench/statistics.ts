/** Medians and spread of repeated measurements. */

export interface Summary {
  median: number;
  /** The 10th and the 90th percentile. */
  low: number;
  high: number;
  min: number;
  count: number;
}

export function summarise(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  /** A quantile, interpolated linearly between neighbours. */
  const quantile = (q: number): number => {
    const at = q * (sorted.length - 1);
    const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
    return low + (high - low) * (at - Math.floor(at));
  };
  return {
    median: quantile(0.5),
    low: quantile(0.1),
    high: quantile(0.9),
    min: sorted[0]!,
    count: sorted.length,
  };
}
