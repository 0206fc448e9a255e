/**
 * KL to a reference as a loss term, estimated on the sampled tokens (k1, k2, k3, abs of core/rl/corrections/kl.ts). The gradients differ:
 * on-policy, that of k1 is 0 in expectation, that of k2 is the KL's own, and that of k3 is the gradient of e^−Δ − 1 + Δ.
 */
import type { KlClamp, KlEstimator } from '../../core/rl/corrections/index.ts';
import * as tf from '../tfjs.ts';
import { LOG_RATIO_BOUND, masked, reduce, type TokenLoss } from './tokens.ts';

export interface KlTokens {
  /** log π of each sampled token, nats [T]; the gradient flows through these. */
  readonly logprobs: tf.Tensor1D;
  /** log-probabilities of the same tokens under the frozen reference, nats [T]. */
  readonly reference: tf.Tensor1D;
  /** Weight [T] of each token in the sum; 0 = masked. */
  readonly weights: tf.Tensor1D;
  /** Constant factors [T], such as π/old (TRL corrects k3 for samples of an older policy). */
  readonly correction?: tf.Tensor1D;
}

export interface KlOptions {
  readonly estimator: KlEstimator;
  readonly clamp?: KlClamp;
  /** Keeps the estimator's value but takes k2's gradient (the suffix "+" of verl). */
  readonly k2Gradient?: boolean;
}

/** Σ weights · k(Δ), Δ = log π − log ref; multiply by β outside. */
export function klToReference(tokens: KlTokens, { estimator, clamp, k2Gradient }: KlOptions): TokenLoss {
  const { weights } = tokens;
  const difference: tf.Tensor1D = tf.sub(masked(tokens.logprobs, weights), masked(tokens.reference, weights));
  // without a bound, exp(−Δ) overflows float32 for a token that the policy has made very unlikely
  const delta = bound(difference, clamp?.input ?? (estimator === 'k3' ? LOG_RATIO_BOUND : null));
  const value = bound(estimate(estimator, delta), clamp?.output ?? null);
  if (!k2Gradient) return reduce(value, tokens);
  const k2 = estimate('k2', delta);
  return reduce(tf.add(tf.stopGradient(tf.sub(value, k2)), k2), tokens);
}

const bound = (x: tf.Tensor1D, limit: number | null): tf.Tensor1D =>
  limit === null ? x : tf.clipByValue(x, -limit, limit);

function estimate(estimator: KlEstimator, delta: tf.Tensor1D): tf.Tensor1D {
  switch (estimator) {
    case 'k1':
      return delta;
    case 'k2':
      return tf.mul(tf.square(delta), 0.5);
    case 'k3':
      return tf.add(tf.expm1(tf.neg(delta)), delta);
    case 'abs':
      return tf.abs(delta);
  }
}
