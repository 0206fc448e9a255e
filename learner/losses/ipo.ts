/** Identity preference optimisation (Azar et al. 2023): regression of the margin to 1/(2β), which cannot run away as DPO's can. */
import * as tf from '../tfjs.ts';
import {
  type PairLoss,
  type Pairs,
  pairMargins,
  reducePairs,
  responseLogRatios,
  type ScoredResponses,
} from './pairs.ts';

export interface IpoOptions {
  readonly beta: number;
  /** Default `mean` over a response's tokens (AReaL, TRL), so that responses of different length weigh alike. */
  readonly level?: 'sum' | 'mean';
}

/** (margin − 1/(2β))² for each pair. */
export function ipo(
  responses: ScoredResponses,
  pairs: Pairs,
  { beta, level = 'mean' }: IpoOptions,
): PairLoss {
  const margins = pairMargins(responseLogRatios(responses, level), pairs);
  return reducePairs(tf.square(tf.sub(margins, 1 / (2 * beta))), margins, pairs);
}
