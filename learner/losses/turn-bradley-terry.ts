/**
 * Turn-level credit from preferences between whole trajectories (SWEET-RL, Zhou et al. 2025): a turn's advantage is its mean token
 * log-ratio or, for comparison, the sum of them, a trajectory's score is the sum over its turns, and the scores follow a Bradley–Terry model. Only trajectories are
 * compared, but the advantages of turns are learned.
 */
import * as tf from '../tfjs.ts';
import {
  negativeLogSigmoid,
  type PairLoss,
  type Pairs,
  pairMargins,
  reducePairs,
  responseLogRatios,
  type ScoredResponses,
} from './pairs.ts';
import { type Sequences, sumPerSequence } from './sequences.ts';

export interface TurnPairLoss extends PairLoss {
  /** Advantage of each turn, nats per token, or nats where it is a sum [turns]. */
  readonly turnAdvantages: tf.Tensor1D;
}

/**
 * −log σ(β·(Σ A_turn of the chosen − Σ A_turn of the rejected)). `turns.sequences` says which turn each token is in,
 * `trajectories.index` int32 [turns] which trajectory each turn is in; pairs index trajectories.
 */
export function turnBradleyTerry(
  turns: ScoredResponses,
  trajectories: Sequences,
  pairs: Pairs,
  { beta, level = 'mean' }: { readonly beta: number; readonly level?: 'sum' | 'mean' },
): TurnPairLoss {
  const turnAdvantages = responseLogRatios(turns, level);
  const margins = pairMargins(sumPerSequence(turnAdvantages, trajectories), pairs);
  return {
    ...reducePairs(negativeLogSigmoid(tf.mul(margins, beta)), margins, pairs),
    turnAdvantages,
  };
}
