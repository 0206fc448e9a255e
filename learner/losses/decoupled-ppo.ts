/**
 * Decoupled PPO (Hilton et al. 2022; AReaL): the clip is centred on a proximal policy, recomputed by the trainer, and samples of an
 * older behaviour policy are corrected by proximal/behaviour, constant and capped.
 */
import type { DecoupledPpoOptions } from '../../core/rl/objective.ts';
import * as tf from '../tfjs.ts';
import { ppoClip } from './ppo-clip.ts';
import { type ClippedLoss, logRatios, masked, type PolicyTokens } from './tokens.ts';

/** ℓ = sg(min(prox/μ, cap))·PPO-clip(π/prox). `oldLogprobs` are the proximal policy's, `behaviour` [T] the sampler's. */
export function decoupledPpo(
  tokens: PolicyTokens & { readonly behaviour: tf.Tensor1D },
  { cap, ...clip }: DecoupledPpoOptions,
): ClippedLoss {
  const { weights, oldLogprobs, behaviour } = tokens;
  const ratio = tf.exp(logRatios({ logprobs: oldLogprobs, oldLogprobs: behaviour, weights }));
  const capped: tf.Tensor1D = tf.minimum(ratio, cap);
  const correction: tf.Tensor1D = tokens.correction
    ? tf.mul(capped, masked(tokens.correction, weights))
    : capped;
  return ppoClip({ ...tokens, correction }, clip);
}
