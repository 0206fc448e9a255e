/** Rows of a matrix by index: the embedding lookup, and the choice of the positions that are scored. */
import * as tf from '../tfjs.ts';
import { incoming, runKernel } from './run-kernel.ts';

/** matrix [rows, width], ids int32 [n] -> [n, width]; width a multiple of 4. The gradient of a row is the sum over its uses. */
export const gatherRows = (matrix: tf.Tensor, ids: tf.Tensor): tf.Tensor2D =>
  runKernel('GatherRows', { matrix, ids })[0] as tf.Tensor2D;

tf.registerGradient({
  kernelName: 'GatherRows',
  inputsToSave: ['matrix', 'ids'],
  gradFunc: (dys, [matrix, ids]) => ({
    matrix: () =>
      runKernel('GatherRowsGrad', { ids: ids!, dy: incoming(dys) }, { rows: matrix!.shape[0]! })[0]!,
    ids: () => tf.zerosLike(ids!),
  }),
});
