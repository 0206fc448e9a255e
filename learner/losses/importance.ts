/**
 * The corrections of core/rl/corrections/importance.ts on tensors, for log-probabilities that are already on the device. They give constant
 * factors [T] to pass as `correction`, without gradients.
 */
import type { RatioLevel } from '../../core/rl/corrections/index.ts';
import * as tf from '../tfjs.ts';
import { meanPerSequence, type Sequences, spreadOverTokens, sumPerSequence } from './sequences.ts';
import { LOG_RATIO_BOUND, logRatios, masked, type PolicyTokens } from './tokens.ts';

export interface ImportanceTokens {
  /** log-probabilities of the policy that the samples should have come from, nats [T]. */
  readonly trainer: tf.Tensor1D;
  /** log-probabilities they were sampled with, nats [T]. */
  readonly sampler: tf.Tensor1D;
  readonly weights: tf.Tensor1D;
  readonly sequences: Sequences;
}

/** min(ratio, cap) [T], where the ratio is the token's, the sequence's (product) or the sequence's geometric mean; 1 where masked. */
export function truncatedWeights(tokens: ImportanceTokens, level: RatioLevel, cap: number): tf.Tensor1D {
  return tf.minimum(importanceRatios(tokens, level), cap);
}

/** 1 where the ratio at that level lies in [low, high], else 0 [T]. */
export function keepInBand(
  tokens: ImportanceTokens,
  level: RatioLevel,
  [low, high]: readonly [number, number],
): tf.Tensor1D {
  const ratios = importanceRatios(tokens, level);
  return tf.cast(tf.logicalAnd(tf.greaterEqual(ratios, low), tf.lessEqual(ratios, high)), 'float32');
}

/** The importance ratio at the given level, spread over the tokens [T]. */
function importanceRatios(tokens: ImportanceTokens, level: RatioLevel): tf.Tensor1D {
  const { trainer, sampler, weights, sequences } = tokens;
  const log = tf.stopGradient(logRatios({ logprobs: trainer, oldLogprobs: sampler, weights }));
  switch (level) {
    case 'token':
      return tf.exp(log);
    case 'sequence': {
      const whole = spreadOverTokens(sumPerSequence(log, sequences), sequences);
      return tf.exp(tf.clipByValue(masked(whole, weights), -LOG_RATIO_BOUND, LOG_RATIO_BOUND));
    }
    case 'geometric':
      return tf.exp(masked(spreadOverTokens(meanPerSequence(log, weights, sequences), sequences), weights));
  }
}

/** TRL's off-policy mask [T]: 0 on the tokens with A < 0 of a sequence whose mean log(old/π) exceeds the threshold (nats). */
export function offPolicyMask(
  tokens: PolicyTokens & { readonly sequences: Sequences },
  threshold: number,
): tf.Tensor1D {
  const { weights, sequences } = tokens;
  const kl = meanPerSequence(tf.neg(tf.stopGradient(logRatios(tokens))), weights, sequences);
  const far = tf.greater(spreadOverTokens(kl, sequences), threshold);
  const pushedDown = tf.less(masked(tokens.advantages, weights), 0);
  return tf.cast(tf.logicalNot(tf.logicalAnd(far, pushedDown)), 'float32');
}
