/** Gradients of the kernels that only move elements. */
import * as tf from '@tensorflow/tfjs-core';
import { axesOf, ofInput, only, type Tensor } from './helpers.ts';

export function registerShapes(): void {
  const backToShape = (dy: Tensor, x: Tensor): Tensor => tf.reshape(dy, x.shape);
  ofInput('Reshape', backToShape);
  tf.registerGradient({
    kernelName: 'ExpandDims',
    inputsToSave: ['input'],
    gradFunc: (dy, [x]) => ({ input: () => backToShape(only(dy), x!) }),
  });
  tf.registerGradient({
    kernelName: 'Transpose',
    gradFunc: (dy, _, attrs) => {
      const perm = attrs.perm as number[];
      return {
        x: () =>
          tf.transpose(
            only(dy),
            perm.map((_axis, i) => perm.indexOf(i)),
          ),
      };
    },
  });
  tf.registerGradient({
    kernelName: 'Slice',
    inputsToSave: ['x'],
    gradFunc: (dy, [x], attrs) => {
      // For a vector, tf.slice also accepts a plain number.
      const begin = [attrs.begin as number | number[]].flat();
      const size = only(dy).shape;
      const paddings = begin.map((from, i): [number, number] => [from, x!.shape[i]! - from - size[i]!]);
      return { x: () => tf.pad(only(dy), paddings) };
    },
  });
  tf.registerGradient({
    kernelName: 'PadV2',
    inputsToSave: ['x'],
    gradFunc: (dy, [x], attrs) => {
      const paddings = attrs.paddings as Array<[number, number]>;
      return {
        x: () =>
          tf.slice(
            only(dy),
            paddings.map(([before]) => before),
            x!.shape,
          ),
      };
    },
  });
  tf.registerGradient({
    kernelName: 'Concat',
    saveAllInputs: true,
    gradFunc: (dy, saved, attrs) => {
      const axis = axesOf(attrs.axis, saved[0]!.shape)[0]!;
      const parts = tf.split(
        only(dy),
        saved.map((part) => part.shape[axis]!),
        axis,
      );
      return Object.fromEntries(parts.map((part, i) => [i, () => part]));
    },
  });
  tf.registerGradient({
    kernelName: 'Tile',
    inputsToSave: ['x'],
    gradFunc: (dy, [x], attrs) => {
      const reps = attrs.reps as number[];
      // [reps0, size0, reps1, size1, …]: the copies are the even axes
      const split = reps.flatMap((count, i) => [count, x!.shape[i]!]);
      return {
        x: () =>
          tf.sum(
            tf.reshape(only(dy), split),
            reps.map((_, i) => 2 * i),
          ),
      };
    },
  });
}
