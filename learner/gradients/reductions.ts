/** Gradients of sums, means, extremes, softmax and cumulative sums. */
import * as tf from '@tensorflow/tfjs-core';
import { axesOf, float, only, type Tensor } from './helpers.ts';

/** Shape with 1 in place of the reduced axes. */
const keptShape = (shape: number[], axes: number[]): number[] =>
  shape.map((size, axis) => (axes.includes(axis) ? 1 : size));

export function registerReductions(): void {
  const spread = (dy: Tensor, x: Tensor, axes: number[]): Tensor =>
    tf.mul(tf.reshape(dy, keptShape(x.shape, axes)), tf.ones(x.shape));
  tf.registerGradient({
    kernelName: 'Sum',
    inputsToSave: ['x'],
    gradFunc: (dy, [x], attrs) => ({ x: () => spread(only(dy), x!, axesOf(attrs.axis, x!.shape)) }),
  });
  tf.registerGradient({
    kernelName: 'Mean',
    inputsToSave: ['x'],
    gradFunc: (dy, [x], attrs) => ({
      x: () => {
        const axes = axesOf(attrs.axis, x!.shape);
        return tf.div(
          spread(only(dy), x!, axes),
          axes.reduce((n, axis) => n * x!.shape[axis]!, 1),
        );
      },
    }),
  });
  for (const kernelName of ['Max', 'Min'])
    tf.registerGradient({
      kernelName,
      inputsToSave: ['x'],
      outputsToSave: [true],
      gradFunc: (dy, [x, y], attrs) => ({
        x: () => {
          // several elements may equal the extreme: they share the gradient
          const axes = axesOf(attrs[kernelName === 'Max' ? 'reductionIndices' : 'axis'], x!.shape);
          const hit = float(tf.equal(x!, tf.reshape(y!, keptShape(x!.shape, axes))));
          return tf.mul(
            tf.div(hit, tf.sum(hit, axes, true)),
            tf.reshape(only(dy), keptShape(x!.shape, axes)),
          );
        },
      }),
    });
  tf.registerGradient({
    kernelName: 'Softmax',
    outputsToSave: [true],
    gradFunc: (dy, [y], attrs) => ({
      logits: () => {
        const weighted = tf.mul(only(dy), y!);
        return tf.sub(weighted, tf.mul(tf.sum(weighted, [attrs.dim as number], true), y!));
      },
    }),
  });
  tf.registerGradient({
    kernelName: 'Cumsum',
    gradFunc: (dy, _, attrs) => ({
      x: () =>
        tf.cumsum(only(dy), attrs.axis as number, attrs.exclusive as boolean, !(attrs.reverse as boolean)),
    }),
  });
}
