/** Entropy bonus: keeps the policy from collapsing by rewarding the entropy of its next-token distributions. */
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
