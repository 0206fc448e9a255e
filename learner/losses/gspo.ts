/**
 * GSPO (Zheng et al. 2025): one importance ratio for a whole sequence, the geometric mean of its tokens' ratios, clipped as a whole.
 * The gradient of each token is that of its own log-probability (verl's sg(s)·π/sg(π)); bounds are far tighter than PPO's.
 */
import type { PpoClipOptions } from '../../core/rl/objective.ts';
import * as tf from '../tfjs.ts';
import { clippedSurrogate } from './ppo-clip.ts';
import { meanPerSequence, type Sequences, spreadOverTokens } from './sequences.ts';
import { type ClippedLoss, LOG_RATIO_BOUND, logRatios, type PolicyTokens } from './tokens.ts';

/** Upper bound (nats) on the log of a sequence's ratio, as in verl. */
const LOG_SEQUENCE_RATIO_BOUND = 10;

/** s = exp(mean log(π/old) over the sequence's counted tokens); per-token loss max(−sA, −clip(s)A). */
export function gspo(
  tokens: PolicyTokens & { readonly sequences: Sequences },
  options: PpoClipOptions,
): ClippedLoss {
  const perToken = logRatios(tokens);
  const whole = spreadOverTokens(
    tf.stopGradient(meanPerSequence(perToken, tokens.weights, tokens.sequences)),
    tokens.sequences,
  );
  // the value is the sequence's log-ratio, the gradient that of the token's
  const log: tf.Tensor1D = tf.add(whole, tf.sub(perToken, tf.stopGradient(perToken)));
  const ratio = tf.exp(tf.clipByValue(log, -LOG_RATIO_BOUND, LOG_SEQUENCE_RATIO_BOUND));
  return clippedSurrogate(ratio, tokens, options);
}
