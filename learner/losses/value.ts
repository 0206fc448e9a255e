/**
 * Regression of a value head: half the squared error, or an expectile's asymmetric one (IQL, arXiv:2110.06169), optionally with PPO's clip that
 * keeps the new value near the old one.
 */
import * as tf from '../tfjs.ts';
import { type ClippedLoss, countTokens, masked, reduce } from './tokens.ts';

export interface ValueTokens {
  /** The head's values [T], with their gradient. */
  readonly values: tf.Tensor1D;
  /** Regression targets [T]: returns, or labels of a process reward model. */
  readonly targets: tf.Tensor1D;
  readonly weights: tf.Tensor1D;
  /** The values at rollout time [T]; needed only for the clip. */
  readonly oldValues?: tf.Tensor1D;
}

/**
 * ℓ = |τ − 1[R < V]|·(V − R)², ½·(V − R)² at the default τ = ½; with clip c and oldValues, which take no other τ,
 * ½·max((V − R)², (V_old + clip(V − V_old, ±c) − R)²).
 */
export function valueLoss(
  tokens: ValueTokens,
  { clip, expectile = 0.5 }: { readonly clip?: number; readonly expectile?: number } = {},
): ClippedLoss {
  const { weights } = tokens;
  const values = masked(tokens.values, weights);
  const targets = masked(tokens.targets, weights);
  const plain: tf.Tensor1D = tf.squaredDifference(values, targets);
  if (clip === undefined || !tokens.oldValues) {
    const steep: tf.Tensor1D = tf.where(
      tf.less(targets, values),
      tf.fill(values.shape, 1 - expectile),
      tf.fill(values.shape, expectile),
    );
    return { ...reduce(tf.mul(plain, steep), { weights }), clippedTokens: tf.scalar(0) };
  }
  const old = masked(tokens.oldValues, weights);
  const near = tf.add(old, tf.clipByValue(tf.sub(values, old), -clip, clip));
  const perToken: tf.Tensor1D = tf.maximum(plain, tf.squaredDifference(near, targets));
  return {
    ...reduce(tf.mul(perToken, 0.5), { weights }),
    clippedTokens: countTokens(tf.notEqual(perToken, plain), weights),
  };
}
