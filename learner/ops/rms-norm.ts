/** Root-mean-square normalisation over the last axis (Zhang and Sennrich, 2019). */
import * as tf from '../tfjs.ts';
import { incoming, runKernel } from './run-kernel.ts';

/** x [..., width] / sqrt(mean(x^2) + eps) * gain [width]; width a multiple of 4. */
export const rmsNorm = <T extends tf.Tensor>(x: T, gain: tf.Tensor, eps: number): T =>
  runKernel('RmsNorm', { x, gain }, { eps })[0] as T;

tf.registerGradient({
  kernelName: 'RmsNorm',
  inputsToSave: ['x', 'gain'],
  outputsToSave: [false, true],
  gradFunc: (dys, [x, gain, inverse]) => {
    // Both gradients are computed here at once, because tfjs runs each closure in its own tidy, which would dispose the other's result.
    const [dx, dgain] = runKernel('RmsNormGrad', {
      x: x!,
      gain: gain!,
      inverse: inverse!,
      dy: incoming(dys),
    });
    return { x: () => dx!, gain: () => dgain! };
  },
});
