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

/** The gradient scale that means "skip the update". It is a number, so that the decision can be taken on the device. */
export const SKIP_UPDATE = -1;

/** Where some tensors lie in one buffer, in values: where each begins, at a multiple of `PLACE_VALUES`, and how long all are. */
export interface Places {
  readonly offsets: readonly number[];
  readonly length: number;
}

/** Tensors in one buffer begin at multiples of so many values: a GPU binds parts of a buffer from 256 bytes to 256 bytes. */
export const PLACE_VALUES = 64;

/**
 * The global norm of some gradients, and the scale that clips them to `clipNorm`, min(1, clipNorm / (norm + 1e-6)), or SKIP_UPDATE where the
 * norm is above `skipNorm` or is not a number; both scalars. A device that gains by it also gives a copy of the gradients at their places.
 */
export function gradientNorm(
  gradients: readonly tf.Tensor[],
  { clipNorm, skipNorm }: { readonly clipNorm: number; readonly skipNorm: number },
  places?: Places,
): { norm: tf.Scalar; scale: tf.Scalar; placed?: tf.Tensor1D } {
  const inputs = Object.fromEntries(gradients.map((gradient, i) => [`x${i}`, gradient]));
  const attributes = {
    clipNorm,
    skipNorm,
    length: places?.length ?? 0,
    offsets: [...(places?.offsets ?? [])],
  };
  const [norm, scale, placed] = runKernel('GradientNorm', inputs, attributes);
  return {
    norm: norm as tf.Scalar,
    scale: scale as tf.Scalar,
    ...(placed ? { placed: placed as tf.Tensor1D } : {}),
  };
}

/** One parameter of an update, and where its moments begin in those of all. */
export interface AdamWTarget {
  readonly parameter: tf.Tensor;
  readonly gradient: tf.Tensor;
  readonly offset: number;
  /** Weight decay of this parameter. */
  readonly decay: number;
}

/** Moments of several parameters, end to end: running means of the gradient and of its square. */
export interface Moments {
  readonly mean: tf.Tensor1D;
  readonly square: tf.Tensor1D;
}

export interface AdamWNumbers extends tf.NamedAttrMap {
  rate: number;
  beta1: number;
  beta2: number;
  eps: number;
  /** 1 / (1 - beta1^step) */
  correct1: number;
  /** 1 / (1 - beta2^step) */
  correct2: number;
}

/** All gradients of an update in one buffer, and for every `PLACE_VALUES` values of it whether weight decay applies, 1 or 0. */
export interface PlacedGradients {
  readonly gradients: tf.Tensor1D;
  readonly decayed: tf.Tensor1D;
  /** Weight decay where it applies. */
  readonly decay: number;
}

/**
 * One AdamW update of some parameters and their moments, in place. The scalar `scale` multiplies the gradients; SKIP_UPDATE leaves everything
 * unchanged. With `placed` the gradients are taken from there, and the parameters are moved into one buffer, in which they stay.
 */
export function adamWInto(
  targets: readonly AdamWTarget[],
  { mean, square }: Moments,
  scale: tf.Scalar,
  numbers: AdamWNumbers,
  placed?: PlacedGradients,
): void {
  const inputs = Object.fromEntries(
    targets.flatMap(({ parameter, gradient }, i) => [
      [`p${i}`, parameter],
      ...(placed ? [] : ([[`g${i}`, gradient]] as const)),
    ]),
  );
  const attributes = {
    ...numbers,
    offsets: targets.map(({ offset }) => offset),
    decays: targets.map(({ decay }) => decay),
    decay: placed?.decay ?? 0,
  };
  const all = placed ? { gradients: placed.gradients, decayed: placed.decayed } : {};
  runKernel('AdamW', { mean, square, scale, ...inputs, ...all }, attributes);
}
