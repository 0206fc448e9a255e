/**
 * DPPO with total variation (prime-rl's default): a token is dropped when its probability has already moved by more than δ in the
 * direction that its advantage pushes; moves in the harmless direction are kept. `oldLogprobs` are the sampler's.
 */
import type { DppoTvOptions } from '../../core/rl/objective.ts';
import * as tf from '../tfjs.ts';
import { type ClippedLoss, countTokens, logRatios, masked, type PolicyTokens, reduce } from './tokens.ts';

/** ℓ = −keep·A·π/μ + squareWeight·(log π − log μ)² per token; `clippedTokens` are the dropped ones. */
export function dppoTv(tokens: PolicyTokens, { delta, squareWeight = 0 }: DppoTvOptions): ClippedLoss {
  const { weights } = tokens;
  const advantages = masked(tokens.advantages, weights);
  const log = logRatios(tokens);
  const moved = tf.stopGradient(
    tf.sub(tf.exp(masked(tokens.logprobs, weights)), tf.exp(masked(tokens.oldLogprobs, weights))),
  );
  const towards = tf.mul(moved, tf.sign(advantages));
  const dropped: tf.Tensor1D = tf.greater(towards, delta);
  const surrogate: tf.Tensor1D = tf.neg(tf.mul(tf.exp(log), advantages));
  const kept: tf.Tensor1D = tf.where(dropped, tf.zerosLike(surrogate), surrogate);
  return {
    ...reduce(tf.add(kept, tf.mul(tf.square(log), squareWeight)), tokens),
    clippedTokens: countTokens(dropped, weights),
  };
}
