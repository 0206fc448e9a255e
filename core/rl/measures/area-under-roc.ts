/** The area under the ROC curve: how well scores separate two classes, whatever the threshold. */
import { expectSameLength } from '../types.ts';
import { ranksOf } from './rank-correlation.ts';

/**
 * The probability that a positive has a higher score than a negative, where ties count half (Mann and Whitney). scores [n], positive [n];
 * 0.5 where there is only one class.
 */
export function areaUnderRoc(scores: readonly number[], positive: readonly boolean[]): number {
  expectSameLength('scores', scores, 'classes', positive);
  const ranks = ranksOf(scores).filter((_, i) => positive[i]);
  const [positives, negatives] = [ranks.length, scores.length - ranks.length];
  if (positives === 0 || negatives === 0) return 0.5;
  const sum = ranks.reduce((total, rank) => total + rank, 0);
  return (sum - (positives * (positives - 1)) / 2) / (positives * negatives);
}
