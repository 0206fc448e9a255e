/**
 * GMPO (Zhao et al. 2025): maximises the geometric instead of the arithmetic mean of the tokens' clipped ratios, so that single
 * outliers change the objective little. Clipping is in log space and one-sided by the advantage's sign, as in PPO.
 */
import type { GmpoOptions } from '../../core/rl/objective.ts';
import * as tf from '../tfjs.ts';
import { meanPerSequence, type Sequences, spreadOverTokens } from './sequences.ts';
import { type ClippedLoss, countTokens, logRatios, masked, type PolicyTokens, reduce } from './tokens.ts';

/** ℓ = −A·exp(mean of clipped log(π/old)) on every token of a sequence; meant for weights that average over sequences. */
export function gmpo(
  tokens: PolicyTokens & { readonly sequences: Sequences },
  { clipLow, clipHigh }: GmpoOptions,
): ClippedLoss {
  const { weights, sequences } = tokens;
  const advantages = masked(tokens.advantages, weights);
  const log = logRatios(tokens);
  const clipped = tf.clipByValue(log, -clipLow, clipHigh);
  // the pessimistic choice is the smaller ratio where A > 0 and the larger where A < 0
  const kept: tf.Tensor1D = tf.where(
    tf.greaterEqual(advantages, 0),
    tf.minimum(log, clipped),
    tf.maximum(log, clipped),
  );
  const ratio = tf.exp(spreadOverTokens(meanPerSequence(kept, weights, sequences), sequences));
  return {
    ...reduce(tf.neg(tf.mul(ratio, advantages)), tokens),
    clippedTokens: countTokens(tf.notEqual(kept, log), weights),
  };
}
