/**
 * SPPO (Wu et al. 2024): self-play preference optimisation. Each response has its own regression target, its win rate against the
 * current policy. A cyclic preference therefore ends in a mixture, and the chosen response's likelihood does not collapse.
 */
import * as tf from '../tfjs.ts';
import {
  type PairLoss,
  type Pairs,
  pairMargins,
  reducePairs,
  responseLogRatios,
  type ScoredResponses,
} from './pairs.ts';

export interface SppoPairs extends Pairs {
  /** Win rate in [0, 1] of each pair's responses against the policy they were sampled from [P]. */
  readonly chosenWinRate: tf.Tensor1D;
  readonly rejectedWinRate: tf.Tensor1D;
}

/**
 * ½·Σ over the two responses of (log π/ref − (P − ½)/β)², P the win rate. The targets are absolute: with the paper's β = 1e-3 they
 * reach 500 nats, which is too much for a response of a few tokens.
 */
export function sppo(
  responses: ScoredResponses,
  pairs: SppoPairs,
  { beta }: { readonly beta: number },
): PairLoss {
  const log = responseLogRatios(responses, 'sum');
  const miss = (which: tf.Tensor1D, winRate: tf.Tensor1D): tf.Tensor1D =>
    tf.square(tf.sub(tf.gather(log, which), tf.div(tf.sub(winRate, 0.5), beta)));
  const perPair: tf.Tensor1D = tf.mul(
    0.5,
    tf.add(miss(pairs.chosen, pairs.chosenWinRate), miss(pairs.rejected, pairs.rejectedWinRate)),
  );
  return reducePairs(perPair, pairMargins(log, pairs), pairs);
}
