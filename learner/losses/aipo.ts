/**
 * AIPO (LlamaRL, 2025): REINFORCE on stale samples with an importance weight against the *behaviour* policy. The weight is capped from
 * above only; there is no lower bound and no second ratio. `oldLogprobs` are the sampler's.
 */
import type { AipoOptions } from '../../core/rl/objective.ts';
import * as tf from '../tfjs.ts';
import { type ClippedLoss, countTokens, logRatios, masked, type PolicyTokens, reduce } from './tokens.ts';

/** ℓ = −sg(min(π/μ, maxRatio))·A·log π per token. */
export function aipo(tokens: PolicyTokens, { maxRatio }: AipoOptions): ClippedLoss {
  const { weights } = tokens;
  const ratio = tf.stopGradient(tf.exp(logRatios(tokens)));
  const coefficient: tf.Tensor1D = tf.minimum(ratio, maxRatio);
  const gain = tf.mul(masked(tokens.advantages, weights), masked(tokens.logprobs, weights));
  return {
    ...reduce(tf.neg(tf.mul(coefficient, gain)), tokens),
    clippedTokens: countTokens(tf.greater(ratio, maxRatio), weights),
  };
}
