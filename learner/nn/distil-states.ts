/**
 * Distillation over whole vocabularies in bounded memory. Student and teacher are given by their hidden states and output matrices; their
 * distributions exist for one block of rows at a time, in the forward pass and again in the backward pass: no [tokens, vocabulary] array
 * of either is ever stored.
 */
import { type DistillationSpec, distillation } from '../losses/distillation.ts';
import { linear } from '../ops/linear.ts';
import * as tf from '../tfjs.ts';
import { summedByRows } from './backward.ts';

export interface StatesWithOutput {
  /** Hidden states of the positions that predict a scored token [T, width]. */
  readonly states: tf.Tensor2D;
  /** The output projection [vocabulary, width]. */
  readonly output: tf.Tensor2D;
}

export interface DistilStates {
  /** The gradient flows through its states, and through its output matrix where `trainsOutput` is set. */
  readonly student: StatesWithOutput;
  readonly trainsOutput: boolean;
  /** Constant; its width may be another, its vocabulary must be the student's. */
  readonly teacher: StatesWithOutput;
  /** Weight of each token's divergence in the sum [T]. */
  readonly weights: tf.Tensor1D;
}

/**
 * Largest block of logits, in values (4 MB). With its tape, the loss of a block holds 30 (KL) to 80 arrays of that size at once
 * (Jensen-Shannon over the likeliest tokens).
 */
const BLOCK_VALUES = 1 << 20;

/** Number of rows whose distributions are held at once, by the size of the vocabulary. */
export const rowsOfBlock = (vocabulary: number): number => Math.max(1, Math.floor(BLOCK_VALUES / vocabulary));

/** Σ weights · divergence (nats), a scalar. `rows` is the size of a block. */
export function distilStates(
  { student, trainsOutput, teacher, weights }: DistilStates,
  spec: DistillationSpec,
  rows: number = rowsOfBlock(student.output.shape[0]),
): tf.Scalar {
  const width = teacher.states.shape[1];
  const lossOf = (
    block: tf.Tensor2D,
    first: number,
    [theirStates, all]: readonly [tf.Tensor2D, tf.Tensor1D],
  ): tf.Scalar => {
    const count = block.shape[0];
    const [logits] = linear(block, [student.output]) as [tf.Tensor2D];
    const theirBlock: tf.Tensor2D = tf.slice(theirStates, [first, 0], [count, width]);
    const [theirs] = linear(theirBlock, [teacher.output]) as [tf.Tensor2D];
    const target: tf.Tensor2D = tf.logSoftmax(theirs);
    return distillation({ logits, teacher: target, weights: tf.slice(all, first, count) }, spec).loss;
  };
  return summedByRows(lossOf, student.states, rows, trainsOutput ? [student.output] : [], [
    teacher.states,
    weights,
  ] as const);
}
