/**
 * The clipped surrogate of PPO (Schulman et al. 2017) with separate bounds (DAPO's clip-higher) and the dual clip that bounds the
 * loss of a negative advantage at a large ratio (Ye et al. 2020; verl has c = 3).
 */
import type { PpoClipOptions } from '../../core/rl/objective.ts';
import * as tf from '../tfjs.ts';
import { type ClippedLoss, countTokens, logRatios, masked, type PolicyTokens, reduce } from './tokens.ts';

/** ℓ = max(−ρA, −clip(ρ)A) with ρ = π/old per token; with the dual clip min(ℓ, −cA) where A < 0. */
export function ppoClip(tokens: PolicyTokens, options: PpoClipOptions): ClippedLoss {
  return clippedSurrogate(tf.exp(logRatios(tokens)), tokens, options);
}

/** The clipped surrogate for any ratio [T]: per token, or one per sequence spread over its tokens. */
export function clippedSurrogate(
  ratio: tf.Tensor1D,
  tokens: Pick<PolicyTokens, 'advantages' | 'weights' | 'correction'>,
  { clipLow, clipHigh, dualClip }: PpoClipOptions,
): ClippedLoss {
  const loss = tf.neg(masked(tokens.advantages, tokens.weights));
  const plain: tf.Tensor1D = tf.mul(ratio, loss);
  const clipped: tf.Tensor1D = tf.mul(tf.clipByValue(ratio, 1 - clipLow, 1 + clipHigh), loss);
  const bounded: tf.Tensor1D = tf.maximum(plain, clipped);
  const perToken: tf.Tensor1D =
    dualClip === undefined
      ? bounded
      : tf.where(tf.greater(loss, 0), tf.minimum(bounded, tf.mul(loss, dualClip)), bounded);
  return {
    ...reduce(perToken, tokens),
    clippedTokens: countTokens(tf.notEqual(perToken, plain), tokens.weights),
  };
}
