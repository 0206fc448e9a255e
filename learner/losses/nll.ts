/** Negative log-likelihood: supervised fine-tuning, rejection sampling, and the anchor term beside preference losses. */
import * as tf from '../tfjs.ts';
import { masked, reduce, type TokenLoss } from './tokens.ts';

/** ℓ = −log π per token; logprobs [T] in nats, weights [T]. */
export const nll = ({
  logprobs,
  weights,
}: {
  readonly logprobs: tf.Tensor1D;
  readonly weights: tf.Tensor1D;
}): TokenLoss => reduce(tf.neg(masked(logprobs, weights)), { weights });
