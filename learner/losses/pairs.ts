/**
 * The input of the preference losses: packed tokens of many responses, and pairs that name two of them. A response may be in
 * several pairs; its tokens are computed once.
 */
import * as tf from '../tfjs.ts';
import { meanPerSequence, type Sequences, sumPerSequence } from './sequences.ts';
import { masked } from './tokens.ts';

export interface ResponseTokens {
  /** log π of each response token, nats [T]; the gradient flows through these. */
  readonly logprobs: tf.Tensor1D;
  /** 1 on the tokens by which responses are compared, 0 elsewhere [T]. */
  readonly mask: tf.Tensor1D;
  readonly sequences: Sequences;
}

export interface ScoredResponses extends ResponseTokens {
  /** The same log-probabilities under the frozen reference, nats [T]. */
  readonly reference: tf.Tensor1D;
}

export interface Pairs {
  /** Sequence index of the preferred and of the other response, int32 [P]. */
  readonly chosen: tf.Tensor1D;
  readonly rejected: tf.Tensor1D;
  /** Weight [P] of each pair's loss, computed for the whole step (1/pairs of the step for a mean). */
  readonly pairWeights: tf.Tensor1D;
  /** What β·margin has to exceed for each pair, nats [P]; absent = 0 for all. */
  readonly offsets?: tf.Tensor1D;
}

export interface PairLoss {
  readonly loss: tf.Scalar;
  /** Loss of each pair before its weight [P]. */
  readonly perPair: tf.Tensor1D;
  /** log-ratio of the chosen minus that of the rejected response, nats [P]. */
  readonly margins: tf.Tensor1D;
}

/** Σ or mean over a response's tokens of log π − log ref, nats [sequences]. */
export function responseLogRatios(responses: ScoredResponses, level: 'sum' | 'mean'): tf.Tensor1D {
  const { mask, sequences } = responses;
  const log: tf.Tensor1D = tf.sub(masked(responses.logprobs, mask), masked(responses.reference, mask));
  return level === 'sum' ? sumPerSequence(log, sequences) : meanPerSequence(log, mask, sequences);
}

/** Mean over a response's tokens of log π, nats [sequences]. */
export const responseLogProbs = ({ logprobs, mask, sequences }: ResponseTokens): tf.Tensor1D =>
  meanPerSequence(masked(logprobs, mask), mask, sequences);

/** Values [n] of the chosen minus those of the rejected -> [P]. */
export const pairMargins = (values: tf.Tensor1D, { chosen, rejected }: Pairs): tf.Tensor1D =>
  tf.sub(tf.gather(values, chosen), tf.gather(values, rejected));

/** What the logistic losses are of: β·margin less the pair's offset [P]. */
export const beyondOffset = (margins: tf.Tensor1D, beta: number, { offsets }: Pairs): tf.Tensor1D => {
  const scaled: tf.Tensor1D = tf.mul(margins, beta);
  return offsets ? tf.sub(scaled, offsets) : scaled;
};

/** −log σ(x) = log(1 + e^−x), without overflow. */
export const negativeLogSigmoid = (x: tf.Tensor1D): tf.Tensor1D => tf.softplus(tf.neg(x));

export const reducePairs = (perPair: tf.Tensor1D, margins: tf.Tensor1D, pairs: Pairs): PairLoss => ({
  loss: tf.sum(tf.mul(perPair, pairs.pairWeights)),
  perPair,
  margins,
});
