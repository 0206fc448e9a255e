/**
 * Rows of a matrix by index: the embedding lookup, and the choice of the positions that are scored. The indices are known on the
 * host, so the backward pass gets them sorted by row: every row is summed by one thread, in a fixed order, without atomics.
 */
import * as tf from '../tfjs.ts';
import { runKernel } from './run-kernel.ts';

/** Uses of row r are order[starts[r]] … order[starts[r+1]-1], ascending: starts [rows + 1], order [ids]. */
function usesByRow(ids: Int32Array, rows: number): { starts: Int32Array; order: Int32Array } {
  const starts = new Int32Array(rows + 1);
  for (const id of ids) starts[id + 1]!++;
  for (let r = 0; r < rows; r++) starts[r + 1]! += starts[r]!;
  const next = starts.slice();
  const order = new Int32Array(ids.length);
  ids.forEach((id, i) => {
    order[next[id]!++] = i;
  });
  return { starts, order };
}

/** matrix [rows, width], ids [n] -> [n, width]; width a multiple of 4. The gradient of a row is the sum over its uses. */
export const gatherRows = (matrix: tf.Tensor2D, ids: Int32Array): tf.Tensor2D =>
  tf.customGrad((...inputs) => ({
    value: runKernel('GatherRows', { matrix: inputs[0] as tf.Tensor, ids: tf.tensor1d(ids, 'int32') })[0]!,
    gradFunc: (dy: tf.Tensor) =>
      tf.tidy(() => {
        const { starts, order } = usesByRow(ids, matrix.shape[0]);
        return runKernel('GatherRowsGrad', {
          starts: tf.tensor1d(starts, 'int32'),
          order: tf.tensor1d(order, 'int32'),
          dy,
        })[0]!;
      }),
  }))(matrix) as tf.Tensor2D;
