/** Cross-entropy of a k-class head, such as for the step labels of a process reward model; for two classes a single logit does as well. */
import * as tf from '../tfjs.ts';
import { masked, reduce, type TokenLoss } from './tokens.ts';

/** ℓ = −log softmax(logits)[label] per position; logits [T, classes], labels int32 [T], weights [T] (0 = unlabelled). */
export function classHead({
  logits,
  labels,
  weights,
}: {
  readonly logits: tf.Tensor2D;
  readonly labels: tf.Tensor1D;
  readonly weights: tf.Tensor1D;
}): TokenLoss {
  const counted = tf.notEqual(weights, 0);
  const rows = tf.tile(tf.expandDims(counted, 1), [1, logits.shape[1]]);
  const safe: tf.Tensor2D = tf.where(rows, logits, tf.zerosLike(logits));
  const label = tf.where(counted, labels, tf.zerosLike(labels));
  const chosen = tf.oneHot(label, logits.shape[1], 1, 0, 'float32');
  const perToken: tf.Tensor1D = tf.neg(tf.sum(tf.mul(tf.logSoftmax(safe), chosen), 1));
  return reduce(masked(perToken, weights), { weights });
}
