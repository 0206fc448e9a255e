/** Helpers for forms of gradient that many kernels share: one input and one output, a broadcast pair, piecewise constant. */
import * as tf from '@tensorflow/tfjs-core';

export type Tensor = tf.Tensor;

/** The incoming gradient of a kernel with one output. */
export const only = (dy: Tensor | Tensor[]): Tensor => (Array.isArray(dy) ? dy[0]! : dy);

/** Sums a gradient back to the shape of an input that was broadcast. */
export function unbroadcast(gradient: Tensor, shape: number[]): Tensor {
  const axes = tf.broadcast_util.getReductionAxes(shape, gradient.shape);
  return tf.reshape(axes.length > 0 ? tf.sum(gradient, axes) : gradient, shape);
}

/** y = f(x), with the gradient written in terms of dy and x. */
export function ofInput(kernelName: string, grad: (dy: Tensor, x: Tensor) => Tensor): void {
  tf.registerGradient({
    kernelName,
    inputsToSave: ['x'],
    gradFunc: (dy, [x]) => ({ x: () => grad(only(dy), x!) }),
  });
}

/** y = f(x), with the gradient written in terms of dy and y. */
export function ofOutput(kernelName: string, input: string, grad: (dy: Tensor, y: Tensor) => Tensor): void {
  tf.registerGradient({
    kernelName,
    outputsToSave: [true],
    gradFunc: (dy, [y]) => ({ [input]: () => grad(only(dy), y!) }),
  });
}

export type Binary = (dy: Tensor, a: Tensor, b: Tensor) => Tensor;

/** y = f(a, b) with broadcasting. */
export function ofPair(kernelName: string, gradA: Binary, gradB: Binary): void {
  tf.registerGradient({
    kernelName,
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, saved) => {
      const [a, b] = saved as [Tensor, Tensor];
      return {
        a: () => unbroadcast(gradA(only(dy), a, b), a.shape),
        b: () => unbroadcast(gradB(only(dy), a, b), b.shape),
      };
    },
  });
}

/** For piecewise constant kernels: the gradient is zero wherever it exists. */
export function constant(kernelName: string, inputs: string[]): void {
  tf.registerGradient({
    kernelName,
    inputsToSave: inputs,
    gradFunc: (_, saved) =>
      Object.fromEntries(inputs.map((name, i) => [name, () => tf.zeros(saved[i]!.shape)])),
  });
}

export const float = (condition: Tensor): Tensor => tf.cast(condition, 'float32');

/** The axes that an attribute names, as indices counted from the front. */
export const axesOf = (attribute: unknown, shape: number[]): number[] =>
  tf.util.parseAxisParam(attribute as number | number[], shape);
