/** The gated activation of the MLP (Shazeer, "GLU variants improve transformer", 2020), in one pass. */
import type { Activation } from '../../model/layers.ts';
import * as tf from '../tfjs.ts';
import { incoming, runKernel } from './run-kernel.ts';

const KERNELS = { silu: 'SwiGlu', 'gelu-tanh': 'GeGlu' } as const satisfies Record<Activation, string>;

/** activation(gate) * up, element by element; same shapes. */
export const gatedUnit = (activation: Activation, gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D =>
  runKernel(KERNELS[activation], { gate, up })[0] as tf.Tensor2D;

for (const kernelName of Object.values(KERNELS))
  tf.registerGradient({
    kernelName,
    inputsToSave: ['gate', 'up'],
    gradFunc: (dys, [gate, up]) => {
      const [dgate, dup] = runKernel(`${kernelName}Grad`, { gate: gate!, up: up!, dy: incoming(dys) });
      return { gate: () => dgate!, up: () => dup! };
    },
  });
