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

/** x [rows, in], weights [out_i, in], biases [out_i] or none at all -> one [rows, out_i] for each weight. */
export const linear = (
  x: tf.Tensor,
  weights: readonly tf.Tensor[],
  biases: readonly tf.Tensor[] = [],
): tf.Tensor2D[] =>
  runKernel(`Linear${weights.length}`, { x, ...named('w', weights), ...named('b', biases) }) as tf.Tensor2D[];

for (const count of LINEAR_COUNTS) {
  const weightNames = Array.from({ length: count }, (_, i) => `w${i}`);
  tf.registerGradient({
    kernelName: `Linear${count}`,
    inputsToSave: ['x', ...weightNames],
    // Only the closures of inputs that lead to a parameter are called, so frozen weights cost no matrix product.
    gradFunc: (dys, [x, ...weights]) => {
      const dy = (i: number): tf.Tensor2D => incoming(dys, i) as tf.Tensor2D;
      const grads: Record<string, () => tf.Tensor> = {
        x: () => {
          const inputs = {
            ...named('w', weights),
            ...named(
              'dy',
              weights.map((_, i) => dy(i)),
            ),
          };
          return runKernel(`Linear${count}Grad`, inputs)[0]!;
        },
      };
      for (let i = 0; i < count; i++) {
        grads[`w${i}`] = () => tf.matMul(dy(i), x as tf.Tensor2D, true, false);
        grads[`b${i}`] = () => runKernel('ColumnSums', { x: dy(i) })[0]!;
      }
      return grads;
    },
  });
}
