/** Losses on the entropy of the policy's next-token distributions: a bonus that keeps it from collapsing, and a band that it is to stay in. */
import * as tf from '../tfjs.ts';
import { masked, reduce, type TokenLoss } from './tokens.ts';

/** ℓ = −H per token, H [T] in nats with its gradient; multiply by the bonus's weight outside. */
export const entropyBonus = ({
  entropy,
  weights,
}: {
  readonly entropy: tf.Tensor1D;
  readonly weights: tf.Tensor1D;
}): TokenLoss => reduce(tf.neg(masked(entropy, weights)), { weights });

/**
 * ℓ = max(0, H − high) + max(0, low − H) per token, H [T] in nats with its gradient, low and high [T] without; there is no gradient inside
 * the band, its bounds included. Multiply by the band's weight outside.
 */
export function entropyBand({
  entropy,
  low,
  high,
  weights,
}: {
  readonly entropy: tf.Tensor1D;
  readonly low: tf.Tensor1D;
  readonly high: tf.Tensor1D;
  readonly weights: tf.Tensor1D;
}): TokenLoss {
  const counted = masked(entropy, weights);
  const beyond = (excess: tf.Tensor1D): tf.Tensor1D =>
    tf.where(tf.greater(excess, 0), excess, tf.zerosLike(excess));
  const above = beyond(tf.sub(counted, masked(high, weights)));
  const below = beyond(tf.sub(masked(low, weights), counted));
  return reduce(tf.add(above, below), { weights });
}
