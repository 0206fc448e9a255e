/** Regression of a value head: half the squared error, optionally with PPO's clip that keeps the new value near the old one; or an expectile. */
import * as tf from '../tfjs.ts';
import { type ClippedLoss, countTokens, masked, reduce, type TokenLoss } from './tokens.ts';

export interface ValueTokens {
  /** The head's values [T], with their gradient. */
  readonly values: tf.Tensor1D;
  /** Regression targets [T]: returns, or labels of a process reward model. */
  readonly targets: tf.Tensor1D;
  readonly weights: tf.Tensor1D;
  /** The values at rollout time [T]; needed only for the clip. */
  readonly oldValues?: tf.Tensor1D;
}

/** ℓ = ½·(V − R)²; with clip c and oldValues ½·max((V − R)², (V_old + clip(V − V_old, ±c) − R)²). */
export function valueLoss(tokens: ValueTokens, { clip }: { readonly clip?: number } = {}): ClippedLoss {
  const { weights } = tokens;
  const values = masked(tokens.values, weights);
  const targets = masked(tokens.targets, weights);
  const plain: tf.Tensor1D = tf.squaredDifference(values, targets);
  if (clip === undefined || !tokens.oldValues)
    return { ...reduce(tf.mul(plain, 0.5), { weights }), clippedTokens: tf.scalar(0) };
  const old = masked(tokens.oldValues, weights);
  const near = tf.add(old, tf.clipByValue(tf.sub(values, old), -clip, clip));
  const perToken: tf.Tensor1D = tf.maximum(plain, tf.squaredDifference(near, targets));
  return {
    ...reduce(tf.mul(perToken, 0.5), { weights }),
    clippedTokens: countTokens(tf.notEqual(perToken, plain), weights),
  };
}

/**
 * Expectile regression (implicit Q-learning, Kostrikov et al., 2021, arXiv:2110.06169, equation 5): ℓ = |τ − 1(u < 0)|·u² with u = R − V. With τ = 0.5 it is half the
 * squared error; towards 1 the value is drawn to the largest of the targets that share a state.
 */
export function expectileLoss(
  { weights, ...tokens }: Omit<ValueTokens, 'oldValues'>,
  expectile: number,
): TokenLoss {
  const values = masked(tokens.values, weights);
  const targets = masked(tokens.targets, weights);
  const below = tf.cast(tf.less(targets, values), 'float32');
  const side: tf.Tensor1D = tf.add(tf.mul(below, 1 - 2 * expectile), expectile);
  return reduce(tf.mul(side, tf.squaredDifference(values, targets)), { weights });
}
