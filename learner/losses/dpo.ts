/** Direct preference optimisation (Rafailov et al. 2023): a logistic loss on the pair's difference of log-ratios to the reference. */
import {
  beyondOffset,
  negativeLogSigmoid,
  type PairLoss,
  type Pairs,
  pairMargins,
  reducePairs,
  responseLogRatios,
  type ScoredResponses,
} from './pairs.ts';

export interface DpoOptions {
  readonly beta: number;
  /** Default `sum`; `mean` removes the effect of length (SWEET-RL trains its critic so). */
  readonly level?: 'sum' | 'mean';
}

/** −log σ(β·margin − offset) for each pair; ln 2 where policy and reference agree and there is no offset. */
export function dpo(responses: ScoredResponses, pairs: Pairs, { beta, level = 'sum' }: DpoOptions): PairLoss {
  const margins = pairMargins(responseLogRatios(responses, level), pairs);
  return reducePairs(negativeLogSigmoid(beyondOffset(margins, beta, pairs)), margins, pairs);
}
