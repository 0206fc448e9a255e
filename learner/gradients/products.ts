/** Gradients of table lookups, segment sums and matrix products. */
import * as tf from '@tensorflow/tfjs-core';
import { axesOf, only, type Tensor } from './helpers.ts';

export function registerLookupsAndProducts(): void {
  tf.registerGradient({
    kernelName: 'GatherV2',
    inputsToSave: ['x', 'indices'],
    gradFunc: (dy, saved, attrs) => {
      const [x, indices] = saved as [Tensor, Tensor];
      const axis = axesOf(attrs.axis, x.shape)[0]!;
      if (axis !== 0 || (attrs.batchDims as number) !== 0)
        throw new Error(`internal: the gradient of gather is written for axis 0 only, not axis ${axis}.`);
      const rows = tf.reshape(indices, [indices.size]);
      return {
        x: () => {
          const flat = tf.reshape(only(dy), [indices.size, ...x.shape.slice(1)]);
          return tf.unsortedSegmentSum(flat, tf.cast(rows, 'int32') as tf.Tensor1D, x.shape[0]!);
        },
        indices: () => tf.zeros(indices.shape),
      };
    },
  });
  tf.registerGradient({
    kernelName: 'UnsortedSegmentSum',
    inputsToSave: ['segmentIds'],
    gradFunc: (dy, [ids]) => ({
      x: () => tf.gather(only(dy), ids!),
      segmentIds: () => tf.zeros(ids!.shape),
    }),
  });
  tf.registerGradient({
    kernelName: 'BatchMatMul',
    inputsToSave: ['a', 'b'],
    gradFunc: (dys, saved, attrs) => {
      const [a, b] = saved as [Tensor, Tensor];
      const dy = only(dys);
      const ta = attrs.transposeA as boolean;
      const tb = attrs.transposeB as boolean;
      return {
        a: () => (ta ? tf.matMul(b, dy, tb, true) : tf.matMul(dy, b, false, !tb)),
        b: () => (tb ? tf.matMul(dy, a, true, ta) : tf.matMul(a, dy, !ta, false)),
      };
    },
  });
}
