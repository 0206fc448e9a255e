/** Root-mean-square normalisation over the last axis (Zhang and Sennrich, 2019). */
import * as tf from '../tfjs.ts';
import { incoming, runKernel, withoutGradient } from './run-kernel.ts';

/** x [..., width] / sqrt(mean(x^2) + eps) * gain [width]; width a multiple of 4. */
export const rmsNorm = <T extends tf.Tensor>(x: T, gain: tf.Tensor, eps: number): T =>
  runKernel('RmsNorm', { x, gain }, { eps })[0] as T;

withoutGradient('RmsNorm', 1);
tf.registerGradient({
  kernelName: 'RmsNorm',
  inputsToSave: ['x', 'gain'],
  outputsToSave: [false, true],
  gradFunc: (dys, [x, gain, inverse]) => {
    const [dx, dgain] = runKernel('RmsNormGrad', {
      x: x!,
      gain: gain!,
      inverse: inverse!,
      dy: incoming(dys),
    });
    return { x: () => dx!, gain: () => dgain! };
  },
});

/**
 * The norm at the beginning of a residual branch: `normed` as `rmsNorm` gives it, and `passed`, which is x for the sum at the branch's end.
 * Both gradients of x meet in one kernel, and no pass over them is needed to add them.
 */
export function branchNorm<T extends tf.Tensor>(
  x: T,
  gain: tf.Tensor,
  eps: number,
): { normed: T; passed: T } {
  const [normed, , passed] = runKernel('BranchNorm', { x, gain }, { eps });
  return { normed: normed as T, passed: passed as T };
}

withoutGradient('BranchNorm', 1);
tf.registerGradient({
  kernelName: 'BranchNorm',
  inputsToSave: ['x', 'gain'],
  outputsToSave: [false, true, false],
  gradFunc: (dys, [x, gain, inverse]) => {
    const [dx, dgain] = runKernel('RmsNormGrad', {
      x: x!,
      gain: gain!,
      inverse: inverse!,
      dy: incoming(dys),
      dpassed: incoming(dys, 2),
    });
    return { x: () => dx!, gain: () => dgain! };
  },
});
