/** The sequence (or turn) that each packed token belongs to, and sums and means over sequences that stay on the device. */
import * as tf from '../tfjs.ts';
import { masked } from './tokens.ts';

export interface Sequences {
  /** Index of each token's sequence, int32 [T], in 0 … count − 1. */
  readonly index: tf.Tensor1D;
  readonly count: number;
}

/** Sum over each sequence: x [T] finite -> [count]. */
export const sumPerSequence = (x: tf.Tensor1D, { index, count }: Sequences): tf.Tensor1D =>
  tf.unsortedSegmentSum(x, index, count);

/** Gives each token the value of its sequence: x [count] -> [T]. */
export const spreadOverTokens = (x: tf.Tensor1D, { index }: Sequences): tf.Tensor1D => tf.gather(x, index);

/** Mean over the tokens of each sequence whose weight is not 0: x [T], weights [T] -> [count]; 0 where none counts. */
export function meanPerSequence(x: tf.Tensor1D, weights: tf.Tensor1D, sequences: Sequences): tf.Tensor1D {
  const counted: tf.Tensor1D = tf.cast(tf.notEqual(weights, 0), 'float32');
  const tokens = sumPerSequence(counted, sequences);
  return tf.div(sumPerSequence(masked(x, weights), sequences), tf.maximum(tokens, 1));
}
