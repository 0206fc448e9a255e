/**
 * Odds ratio preference optimisation (Hong et al. 2024): a logistic loss on the pair's log-odds ratio, without a reference. The paper adds
 * it to the chosen response's negative log-likelihood, which a preference part has beside it.
 */
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

/** The largest mean log-probability, nats: at 0 the odds are infinite. */
const LARGEST = -1e-6;

/** λ·−log σ(log odds of the chosen − log odds of the rejected response), odds = p/(1 − p), log p the mean log-probability of a token. */
export function orpo(
  responses: ResponseTokens,
  pairs: Pairs,
  { lambda }: { readonly lambda: number },
): PairLoss {
  const log = tf.minimum(responseLogProbs(responses), LARGEST) as tf.Tensor1D;
  const odds = tf.sub(log, tf.log(tf.neg(tf.expm1(log)))) as tf.Tensor1D;
  const margins = pairMargins(odds, pairs);
  return reducePairs(tf.mul(negativeLogSigmoid(margins), lambda), margins, pairs);
}
