/**
 * Kahneman–Tversky optimisation (Ethayarajh et al. 2024) on pairs: each response is rated for itself, against how far the policy is from the
 * reference on the whole. That distance, the baseline, is computed before the step and carries no gradient.
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

export interface KtoOptions {
  readonly beta: number;
  /** The KL of the policy to the reference, nats a response, at least 0. */
  readonly baseline: number;
  /** Weights of chosen and of rejected responses. */
  readonly desirable: number;
  readonly undesirable: number;
}

/** ½·(λ_D·(1 − σ(β(r − z))) + λ_U·(1 − σ(β(z − r′)))) for each pair: r and r′ the log-ratios of both responses, z the baseline. */
export function kto(
  responses: ScoredResponses,
  pairs: Pairs,
  { beta, baseline, desirable, undesirable }: KtoOptions,
): PairLoss {
  const log = responseLogRatios(responses, 'sum');
  const lost = (which: tf.Tensor1D, sign: 1 | -1, weight: number): tf.Tensor1D =>
    tf.mul(tf.sigmoid(tf.mul(tf.sub(tf.gather(log, which), baseline), -sign * beta)), weight);
  const perPair: tf.Tensor1D = tf.mul(
    0.5,
    tf.add(lost(pairs.chosen, 1, desirable), lost(pairs.rejected, -1, undesirable)),
  );
  return reducePairs(perPair, pairMargins(log, pairs), pairs);
}
