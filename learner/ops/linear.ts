/**
 * Several projections of one input in one op (q, k and v; gate and up), so that the input's gradient is summed inside the matrix
 * products and not in separate passes. Weights are [out, in] as Hugging Face stores them.
 */
import * as tf from '../tfjs.ts';
import { incoming, runKernel } from './run-kernel.ts';

/** Kernels Linear1 … Linear3, because tfjs lists a kernel's saved inputs by name beforehand. */
export const LINEAR_COUNTS = [1, 2, 3] as const;

const named = (prefix: string, tensors: readonly tf.Tensor[]): Record<string, tf.Tensor> =>
  Object.fromEntries(tensors.map((t, i) => [`${prefix}${i}`, t]));

/** Biases [out_i], one for each weight or none at all, and residuals [rows, out_i], likewise; both are added to the products. */
export interface Addends {
  readonly biases?: readonly tf.Tensor[];
  readonly residuals?: readonly tf.Tensor[];
}

const namedAddends = ({ biases = [], residuals = [] }: Addends): Record<string, tf.Tensor> => ({
  ...named('b', biases),
  ...named('r', residuals),
});

/** x [rows, in], weights [out_i, in] -> one [rows, out_i] for each weight. */
export const linear = (x: tf.Tensor, weights: readonly tf.Tensor[], addends: Addends = {}): tf.Tensor2D[] =>
  runKernel(`Linear${weights.length}`, {
    x,
    ...named('w', weights),
    ...namedAddends(addends),
  }) as tf.Tensor2D[];

for (const count of LINEAR_COUNTS) {
  const weightNames = Array.from({ length: count }, (_, i) => `w${i}`);
  tf.registerGradient({
    kernelName: `Linear${count}`,
    inputsToSave: ['x', ...weightNames],
    // Only the closures of inputs that lead to a parameter are called, so frozen weights cost no matrix product.
    gradFunc: (dys, [x, ...weights]) => {
      const outputs = weights.map((_, i) => incoming(dys, i));
      const incomings = named('dy', outputs);
      let weightGrads: tf.Tensor[] | undefined;
      const weightGrad = (i: number): tf.Tensor => {
        weightGrads ??= runKernel(`Linear${count}WeightGrad`, { x: x!, ...incomings });
        return weightGrads[i]!;
      };
      const grads: Record<string, () => tf.Tensor> = {
        x: () => runKernel(`Linear${count}Grad`, { ...named('w', weights), ...incomings })[0]!,
      };
      for (const [i, dy] of outputs.entries()) {
        grads[`w${i}`] = () => weightGrad(i);
        grads[`b${i}`] = () => runKernel('ColumnSums', { x: dy })[0]!;
        grads[`r${i}`] = () => dy;
      }
      return grads;
    },
  });
}

/** A low-rank addition to a weight [out, in]: B A, with `a` [rank, in] and `b` [out, rank], which has the scale in it. */
export interface LowRank {
  readonly a: tf.Tensor2D;
  readonly b: tf.Tensor2D;
}

/**
 * As `linear`, by weights W + B A. The addition is inside the products of the forward pass and of the input's gradient; A and B get
 * gradients, by products of their rank, and W and the biases, which are frozen, get none.
 */
export const adaptedLinear = (
  x: tf.Tensor,
  weights: readonly tf.Tensor[],
  pairs: readonly LowRank[],
  addends: Addends = {},
): tf.Tensor2D[] =>
  runKernel(`AdaptedLinear${weights.length}`, {
    x,
    ...named('w', weights),
    ...named(
      'la',
      pairs.map(({ a }) => a),
    ),
    ...named(
      'lb',
      pairs.map(({ b }) => b),
    ),
    ...namedAddends(addends),
  }) as tf.Tensor2D[];

for (const count of LINEAR_COUNTS) {
  const indices = Array.from({ length: count }, (_, i) => i);
  tf.registerGradient({
    kernelName: `AdaptedLinear${count}`,
    inputsToSave: ['x', ...['w', 'la', 'lb'].flatMap((prefix) => indices.map((i) => `${prefix}${i}`))],
    gradFunc: (dys, [x, ...saved]) => {
      const dy = (i: number): tf.Tensor2D => incoming(dys, i) as tf.Tensor2D;
      const a = (i: number) => saved[count + i] as tf.Tensor2D;
      const b = (i: number) => saved[2 * count + i] as tf.Tensor2D;
      const input = x as tf.Tensor2D;
      const grads: Record<string, () => tf.Tensor> = {
        x: () => {
          const inputs = {
            ...named(
              'w',
              indices.map((i) => saved[i]!),
            ),
            ...named('la', indices.map(a)),
            ...named('lb', indices.map(b)),
            ...named('dy', indices.map(dy)),
          };
          return runKernel(`AdaptedLinear${count}Grad`, inputs)[0]!;
        },
      };
      let adapterGrads: tf.Tensor[] | undefined;
      const adapterGrad = (i: number): tf.Tensor => {
        adapterGrads ??= runKernel(`AdaptedLinear${count}AdapterGrad`, {
          x: input,
          ...named('la', indices.map(a)),
          ...named('lb', indices.map(b)),
          ...named('dy', indices.map(dy)),
        });
        return adapterGrads[i]!;
      };
      for (const i of indices) {
        grads[`r${i}`] = () => dy(i);
        grads[`la${i}`] = () => adapterGrad(i);
        grads[`lb${i}`] = () => adapterGrad(count + i);
      }
      return grads;
    },
  });
}
