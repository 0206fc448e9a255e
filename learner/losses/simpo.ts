/** Simple preference optimisation (Meng et al. 2024): a logistic loss on mean log-probabilities, with a margin and without a reference. */
import * as tf from '../tfjs.ts';
import {
  negativeLogSigmoid,
  type PairLoss,
  type Pairs,
  pairMargins,
  type ResponseTokens,
  reducePairs,
  responseLogProbs,
} from './pairs.ts';

export interface SimpoOptions {
  readonly beta: number;
  /** What the chosen response's reward must exceed the other's by, as a target; 0.5 to 1.6 in the paper. */
  readonly gamma: number;
}

/** −log σ(β·(mean log π of the chosen − that of the rejected response) − γ) for each pair. */
export function simpo(responses: ResponseTokens, pairs: Pairs, { beta, gamma }: SimpoOptions): PairLoss {
  const margins = pairMargins(responseLogProbs(responses), pairs);
  return reducePairs(negativeLogSigmoid(tf.sub(tf.mul(margins, beta), gamma)), margins, pairs);
}
