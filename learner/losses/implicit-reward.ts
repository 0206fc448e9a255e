/**
 * An implicit process reward model (Yuan et al. 2024; PRIME): a language model ψ that is trained on outcomes only. Its token rewards are
 * its log-ratios to a reference; β times their sum is the logit of a correct outcome.
 */
import * as tf from '../tfjs.ts';
import { responseLogRatios, type ScoredResponses } from './pairs.ts';

export interface ImplicitRewardLoss {
  readonly loss: tf.Scalar;
  /** Cross-entropy of each sequence before its weight [sequences]. */
  readonly perSequence: tf.Tensor1D;
  /** β·Σ(log ψ − log ref): logits of a correct outcome [sequences]. */
  readonly logits: tf.Tensor1D;
}

/**
 * Binary cross-entropy of σ(β·Σ log-ratio) against outcomes [sequences] in [0, 1]; sequenceWeights [sequences] are those of the whole
 * step. β = .05 suits answers of hundreds of tokens, .2 to .5 those of a few dozen.
 */
export function implicitReward(
  responses: ScoredResponses,
  targets: { readonly outcomes: tf.Tensor1D; readonly sequenceWeights: tf.Tensor1D },
  { beta }: { readonly beta: number },
): ImplicitRewardLoss {
  const logits: tf.Tensor1D = tf.mul(responseLogRatios(responses, 'sum'), beta);
  const perSequence: tf.Tensor1D = tf.sub(tf.softplus(logits), tf.mul(logits, targets.outcomes));
  return { loss: tf.sum(tf.mul(perSequence, targets.sequenceWeights)), perSequence, logits };
}
