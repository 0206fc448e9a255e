/**
 * Distillation from a teacher's whole next-token distributions, and the exact KL penalty to a reference (sum over the vocabulary
 * instead of an estimate on the sampled token).
 */
import * as tf from '../tfjs.ts';
import { reduce, type TokenLoss } from './tokens.ts';

export interface DistillationTokens {
  /** The student's logits [T, V], with their gradient. */
  readonly logits: tf.Tensor2D;
  /** The teacher's log-probabilities [T, V], nats; −Infinity is allowed where the teacher excludes a token. */
  readonly teacher: tf.Tensor2D;
  readonly weights: tf.Tensor1D;
}

/** `forward` = KL(teacher‖student), covers the teacher's modes · `reverse` = KL(student‖teacher), stays inside them. */
export type KlDirection = 'forward' | 'reverse';

/** Probability-zero tokens of the teacher enter the reverse KL with this log-probability (nats) instead of −Infinity. */
const FLOOR = -100;

/** KL (nats) between the two distributions at each position. */
export function distillation(
  { logits, teacher, weights }: DistillationTokens,
  { direction }: { readonly direction: KlDirection },
): TokenLoss {
  const counted = tf.tile(tf.expandDims(tf.notEqual(weights, 0), 1), [1, logits.shape[1]]);
  const student: tf.Tensor2D = tf.logSoftmax(tf.where(counted, logits, tf.zerosLike(logits)));
  const target: tf.Tensor2D = tf.maximum(tf.where(counted, teacher, student), FLOOR);
  const [from, to] = direction === 'forward' ? [target, student] : [student, target];
  const perToken: tf.Tensor1D = tf.sum(tf.mul(tf.exp(from), tf.sub(from, to)), 1);
  return reduce(perToken, { weights });
}
