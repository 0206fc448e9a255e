/**
 * The input of every loss over sampled tokens: packed per-token arrays [T]; prompts and padding are left out or have weight 0.
 * The weights contain the aggregation (core/rl/aggregation.ts). They are computed on the host for a whole optimiser step and cut into
 * micro-batches like the tokens, so that a loss is one dot product and the losses of micro-batches add up exactly.
 */
import * as tf from '../tfjs.ts';

export interface PolicyTokens {
  /** log π of each sampled token under the policy that is trained, nats [T]; the gradient flows through these. */
  readonly logprobs: tf.Tensor1D;
  /** log-probabilities in the denominator of the ratio, nats [T]: those of the rollout, or recomputed before the update. */
  readonly oldLogprobs: tf.Tensor1D;
  readonly advantages: tf.Tensor1D;
  /** Weight [T] of each token's loss in the sum; 0 = masked, and then no other value of that token matters, not even a NaN. */
  readonly weights: tf.Tensor1D;
  /** Constant factors [T] on each token's loss: truncated importance weights, off-policy masks. Default 1. */
  readonly correction?: tf.Tensor1D;
}

export interface TokenLoss {
  /** Σ weights · perToken. */
  readonly loss: tf.Scalar;
  /** Loss of each token before its weight [T], correction included; 0 where masked. */
  readonly perToken: tf.Tensor1D;
}

export interface ClippedLoss extends TokenLoss {
  /** Number of counted tokens of this batch on which the clip is active; divide by all counted tokens for the clip fraction. */
  readonly clippedTokens: tf.Scalar;
}

/** Log-ratios are clamped to ± this bound (nats) before exp, so that float32 stays finite; verl uses the same bound. */
export const LOG_RATIO_BOUND = 20;

/** x [T] with 0 wherever the weight is 0. It is applied before any arithmetic, since 0 · NaN is NaN in value and gradient. */
export const masked = (x: tf.Tensor1D, weights: tf.Tensor1D): tf.Tensor1D =>
  tf.where(tf.notEqual(weights, 0), x, tf.zerosLike(x));

/** log(π/old) [T], bounded, 0 where masked. */
export const logRatios = ({
  logprobs,
  oldLogprobs,
  weights,
}: Omit<PolicyTokens, 'advantages'>): tf.Tensor1D =>
  tf.clipByValue(
    tf.sub(masked(logprobs, weights), masked(oldLogprobs, weights)),
    -LOG_RATIO_BOUND,
    LOG_RATIO_BOUND,
  );

/** Σ weights · perToken, perToken [T] finite. */
export const weightedSum = (perToken: tf.Tensor1D, weights: tf.Tensor1D): tf.Scalar =>
  tf.sum(tf.mul(perToken, weights));

/** Applies the correction and the weights: per-token losses [T] -> the loss. */
export function reduce(
  perToken: tf.Tensor1D,
  { weights, correction }: Pick<PolicyTokens, 'weights' | 'correction'>,
): TokenLoss {
  const corrected: tf.Tensor1D = correction
    ? tf.mul(perToken, tf.stopGradient(masked(correction, weights)))
    : perToken;
  return { loss: weightedSum(corrected, weights), perToken: corrected };
}

/** Number of counted tokens where the condition [T] holds. */
export const countTokens = (condition: tf.Tensor1D, weights: tf.Tensor1D): tf.Scalar =>
  tf.sum(tf.cast(tf.logicalAnd(condition, tf.notEqual(weights, 0)), 'float32'));
