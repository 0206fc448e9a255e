/**
 * CISPO (MiniMax-M1, 2025): REINFORCE whose importance weight is clipped and constant, so that no token's gradient is cut off as
 * PPO's clip does. To anchor the ratio on the rollout policy, pass its log-probabilities as `oldLogprobs`.
 */
import type { ClipBounds } from '../../core/rl/objective.ts';
import * as tf from '../tfjs.ts';
import { type ClippedLoss, countTokens, logRatios, masked, type PolicyTokens, reduce } from './tokens.ts';

/** ℓ = −sg(clip(π/old))·A·log π per token; with clipLow ≥ 1 the weight has no lower bound. */
export function cispo(tokens: PolicyTokens, { clipLow, clipHigh }: ClipBounds): ClippedLoss {
  const { weights } = tokens;
  const ratio = tf.stopGradient(tf.exp(logRatios(tokens)));
  const coefficient: tf.Tensor1D = tf.clipByValue(ratio, 1 - clipLow, 1 + clipHigh);
  const gain = tf.mul(masked(tokens.advantages, weights), masked(tokens.logprobs, weights));
  return {
    ...reduce(tf.neg(tf.mul(coefficient, gain)), tokens),
    clippedTokens: countTokens(tf.notEqual(coefficient, ratio), weights),
  };
}
