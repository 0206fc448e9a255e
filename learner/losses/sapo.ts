/**
 * SAPO (Gao et al. 2025): a smooth gate in place of the clip. The gate's slope in ρ is 1 at ρ = 1 and fades on both sides, faster
 * for negative advantages (larger τ).
 */
import type { SapoOptions } from '../../core/rl/objective.ts';
import * as tf from '../tfjs.ts';
import { logRatios, masked, type PolicyTokens, reduce, type TokenLoss } from './tokens.ts';

/** ℓ = −(4/τ)·sigmoid(τ(ρ − 1))·A per token, ρ = π/old. */
export function sapo(tokens: PolicyTokens, { tauPositive, tauNegative }: SapoOptions): TokenLoss {
  const advantages = masked(tokens.advantages, tokens.weights);
  const tau: tf.Tensor1D = tf.where(
    tf.greater(advantages, 0),
    tf.fill(advantages.shape, tauPositive),
    tf.fill(advantages.shape, tauNegative),
  );
  const gate = tf.sigmoid(tf.mul(tau, tf.sub(tf.exp(logRatios(tokens)), 1)));
  return reduce(tf.neg(tf.mul(tf.div(tf.mul(gate, 4), tau), advantages)), tokens);
}
