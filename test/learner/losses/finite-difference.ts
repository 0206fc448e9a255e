/** Central finite differences: the oracle for gradients. Works on the float32 cpu backend, hence the large step and tolerance. */
import '@tensorflow/tfjs-backend-cpu';
import { expect } from 'vitest';
import * as tf from '../../../learner/tfjs.ts';

export type ScalarFunction = (x: tf.Tensor) => tf.Tensor;

const valueAt = (f: ScalarFunction, values: readonly number[], shape: number[]): number =>
  tf.tidy(() => f(tf.tensor([...values], shape)).dataSync()[0]!);

/** Gradient of f at x by central differences with the given step. */
export function differences(
  f: ScalarFunction,
  x: readonly number[],
  shape = [x.length],
  step = 1e-2,
): number[] {
  return x.map((_, i) => {
    const moved = (delta: number): number =>
      valueAt(
        f,
        x.map((value, j) => (j === i ? value + delta : value)),
        shape,
      );
    // Richardson: removes the step's quadratic error, so that a step large enough for float32 is exact enough
    const wide = (moved(step) - moved(-step)) / (2 * step);
    const narrow = (moved(step / 2) - moved(-step / 2)) / step;
    return (4 * narrow - wide) / 3;
  });
}

/** Gradient of f at x by tfjs. */
export const backprop = (f: ScalarFunction, x: readonly number[], shape = [x.length]): number[] =>
  tf.tidy(() => [
    ...tf
      .grad((input: tf.Tensor) => f(input))(tf.tensor([...x], shape))
      .dataSync(),
  ]);

export function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = 1e-5): void {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs(actual[i]! - expected[i]!);
    if (!(difference <= tolerance * Math.max(1, Math.abs(expected[i]!))))
      expect.fail(
        `[${i}]: ${actual[i]} is not ${expected[i]} (tolerance ${tolerance}); all: ${[...Array.from(actual)]}`,
      );
  }
}

/** tfjs' gradient equals the finite difference. */
export function expectGradient(
  f: ScalarFunction,
  x: readonly number[],
  shape = [x.length],
  tolerance = 2e-3,
): void {
  expectClose(backprop(f, x, shape), differences(f, x, shape), tolerance);
}

/** A function of a vector, as the checks above take it. */
export const ofVector =
  (f: (x: tf.Tensor1D) => tf.Tensor): ScalarFunction =>
  (x) =>
    f(tf.reshape(x, [x.size]));
