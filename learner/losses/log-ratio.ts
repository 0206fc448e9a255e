/**
 * Regression of a response's log-ratio to a constant, which makes the probability of a few tokens a score (LaSeR, arXiv:2510.14943): with one
 * token that is never sampled, its log-probability after an answer says what the answer is worth.
 */
import * as tf from '../tfjs.ts';
import type { ResponseTokens } from './pairs.ts';
import { sumPerSequence } from './sequences.ts';
import { masked } from './tokens.ts';

export interface LogRatioLoss {
  readonly loss: tf.Scalar;
  /** β·(Σ log π − reference): the score of each sequence [sequences]. */
  readonly scores: tf.Tensor1D;
}

/** Σ weights·(β·(Σ log π − reference) − target)². targets and sequenceWeights [sequences], those of the whole step; reference in nats. */
export function logRatioRegression(
  { logprobs, mask, sequences }: ResponseTokens,
  { targets, sequenceWeights }: { readonly targets: tf.Tensor1D; readonly sequenceWeights: tf.Tensor1D },
  { beta, reference }: { readonly beta: number; readonly reference: number },
): LogRatioLoss {
  const logs = sumPerSequence(masked(logprobs, mask), sequences);
  const scores: tf.Tensor1D = tf.mul(tf.sub(logs, reference), beta);
  return { loss: tf.sum(tf.mul(tf.squaredDifference(scores, targets), sequenceWeights)), scores };
}
