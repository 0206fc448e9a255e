/** Kernels that change a tensor in place or reduce it for the optimiser. They take no part in differentiation. */
import * as tf from '../tfjs.ts';
import { runKernel } from './run-kernel.ts';

/** target = scale * source + keep * target, in place; target is not read where keep = 0. Same sizes. */
export function scaleAddInto(target: tf.Tensor, source: tf.Tensor, scale: number, keep: number): void {
  runKernel('ScaleAdd', { target, source }, { scale, keep });
}

/** A copy with data of its own (tf.clone shares it). Not tracked by tidy: the caller disposes it. */
export function copyOf(source: tf.Tensor): tf.Tensor {
  const target = tf.keep(tf.zeros(source.shape));
  scaleAddInto(target, source, 1, 0);
  return target;
}

/** Sum of squares of all elements, a scalar. */
export const sumSquares = (x: tf.Tensor): tf.Scalar => runKernel('SumSquares', { x })[0] as tf.Scalar;

/** The gradient scale that means "skip the update". It is a number, so that the decision can be taken on the device. */
export const SKIP_UPDATE = -1;

export interface AdamWTensors {
  parameter: tf.Tensor;
  /** Running mean of the gradient. */
  mean: tf.Tensor;
  /** Running mean of its square. */
  square: tf.Tensor;
  gradient: tf.Tensor;
  /** Scalar that multiplies the gradient; a negative one (SKIP_UPDATE) leaves everything unchanged. */
  scale: tf.Tensor;
}

export interface AdamWNumbers extends tf.NamedAttrMap {
  rate: number;
  beta1: number;
  beta2: number;
  eps: number;
  decay: number;
  /** 1 / (1 - beta1^step) */
  correct1: number;
  /** 1 / (1 - beta2^step) */
  correct2: number;
}

/** One AdamW update of parameter, mean and square, in place. */
export function adamWInto(tensors: AdamWTensors, numbers: AdamWNumbers): void {
  runKernel('AdamW', { ...tensors }, numbers);
}
