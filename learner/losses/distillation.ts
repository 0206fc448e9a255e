/**
 * Distillation from a teacher's next-token distributions: forward KL, reverse KL or the generalised Jensen-Shannon divergence (Agarwal et
 * al., "On-Policy Distillation of Language Models", 2024), over the whole vocabulary or over the k likeliest tokens and the rest as one; where
 * asked for, weighted down at tokens of which the teacher is uncertain (SRPO, arXiv:2604.02288).
 */
import type { Divergence, DivergenceOver } from '../../core/plan/training-plan.ts';
import * as tf from '../tfjs.ts';
import { reduce, type TokenLoss } from './tokens.ts';

export interface DistillationTokens {
  /** The student's logits [T, V], with their gradient. */
  readonly logits: tf.Tensor2D;
  /** The teacher's log-probabilities [T, V], nats; −Infinity is allowed where the teacher excludes a token. */
  readonly teacher: tf.Tensor2D;
  readonly weights: tf.Tensor1D;
}

/** Probability-zero tokens of the teacher enter a divergence with this log-probability (nats) instead of −Infinity. */
const FLOOR = -100;
/** Added to the mass outside the k likeliest tokens, so that its logarithm is finite where float32 leaves none. */
const LEAST_MASS = 1e-30;

/** How the two are compared, as the part of the plan says it. */
export interface DistillationSpec {
  readonly divergence: Divergence;
  readonly top?: DivergenceOver | undefined;
  readonly entropyBeta?: number | undefined;
}

/** The divergence (nats) between the two distributions at each position, times exp(−β·H(teacher)) where β is given. */
export function distillation(
  { logits, teacher, weights }: DistillationTokens,
  { divergence, top, entropyBeta = 0 }: DistillationSpec,
): TokenLoss {
  const vocabulary = logits.shape[1];
  const counted = tf.tile(tf.expandDims(tf.notEqual(weights, 0), 1), [1, vocabulary]);
  const student: tf.Tensor2D = tf.logSoftmax(tf.where(counted, logits, tf.zerosLike(logits)));
  const target: tf.Tensor2D = tf.maximum(tf.where(counted, teacher, student), FLOOR);
  const terms = (theirs: tf.Tensor, own: tf.Tensor): tf.Tensor => termsOf(divergence, theirs, own);
  const how = entropyBeta ? { weights, correction: certainty(target, entropyBeta) } : { weights };
  if (!top || top.k >= vocabulary) return reduce(tf.sum(terms(target, student), 1), how);
  const kept = likeliest(top.of === 'teacher' ? target : student, top.k);
  const rest = (logprobs: tf.Tensor2D): tf.Tensor1D =>
    tf.log(tf.add(tf.sum(tf.mul(tf.exp(logprobs), tf.sub(1, kept)), 1), LEAST_MASS));
  const perToken: tf.Tensor1D = tf.add(
    tf.sum(tf.mul(terms(target, student), kept), 1),
    terms(rest(target), rest(student)),
  );
  return reduce(perToken, how);
}

/** exp(−β·H) of each row's distribution, given its log-probabilities [T, V], nats -> [T]. */
const certainty = (logprobs: tf.Tensor2D, beta: number): tf.Tensor1D =>
  tf.exp(tf.mul(tf.sum(tf.mul(tf.exp(logprobs), logprobs), 1), beta));

/** The summands of a divergence, given the log-probabilities of the outcomes under teacher and student, of the same shape. */
function termsOf(divergence: Divergence, teacher: tf.Tensor, student: tf.Tensor): tf.Tensor {
  const kl = (from: tf.Tensor, to: tf.Tensor): tf.Tensor => tf.mul(tf.exp(from), tf.sub(from, to));
  switch (divergence.kind) {
    case 'forward-kl':
      return kl(teacher, student);
    case 'reverse-kl':
      return kl(student, teacher);
    case 'jensen-shannon': {
      const { beta } = divergence;
      // log(β·teacher + (1 − β)·student)
      const first = tf.add(teacher, Math.log(beta));
      const mixture = tf.add(first, tf.softplus(tf.sub(tf.add(student, Math.log(1 - beta)), first)));
      return tf.add(tf.mul(kl(teacher, mixture), beta), tf.mul(kl(student, mixture), 1 - beta));
    }
  }
}

/** 1 on the k largest of each row and on what ties with the k-th, else 0; no gradient flows through it. x [T, V] -> [T, V]. */
const likeliest = (x: tf.Tensor2D, k: number): tf.Tensor2D =>
  tf.customGrad((...inputs) => {
    const rows = inputs[0] as tf.Tensor2D;
    const least = tf.slice(tf.topk(rows, k).values as tf.Tensor2D, [0, k - 1], [rows.shape[0], 1]);
    const value = tf.cast(tf.greaterEqual(rows, least), 'float32');
    return { value, gradFunc: (dy: tf.Tensor) => tf.zerosLike(dy) };
  })(x) as tf.Tensor2D;
