/** The gated activation of the MLP (Shazeer, "GLU variants improve transformer", 2020), in one pass. */
import * as tf from '../tfjs.ts';
import { incoming, runKernel } from './run-kernel.ts';

/** silu(gate) * up, element by element; same shapes. */
export const swiGlu = (gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D =>
  runKernel('SwiGlu', { gate, up })[0] as tf.Tensor2D;

tf.registerGradient({
  kernelName: 'SwiGlu',
  inputsToSave: ['gate', 'up'],
  gradFunc: (dys, [gate, up]) => {
    const [dgate, dup] = runKernel('SwiGluGrad', { gate: gate!, up: up!, dy: incoming(dys) });
    return { gate: () => dgate!, up: () => dup! };
  },
});
