/** Medians and spread of repeated measurements. */
import { quantile } from '../../core/statistics/quantile.ts';

export interface Summary {
  median: number;
  /** The 10th and the 90th percentile. */
  low: number;
  high: number;
  min: number;
  count: number;
}

export const summarise = (values: readonly number[]): Summary => ({
  median: quantile(values, 0.5),
  low: quantile(values, 0.1),
  high: quantile(values, 0.9),
  min: Math.min(...values),
  count: values.length,
});
