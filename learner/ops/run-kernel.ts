/** Calls the kernels of this folder's ops, which are registered in tfjs by name, once for each device. */
import * as tf from '../tfjs.ts';

/** Runs a kernel of the active device and records it on the tape like any tfjs op. Returns a list, also for a single output. */
export function runKernel(
  name: string,
  inputs: Record<string, tf.Tensor>,
  attributes: tf.NamedAttrMap = {},
): tf.Tensor[] {
  const outputs = tf.engine().runKernel<tf.Tensor | tf.Tensor[]>(name, inputs, attributes);
  return Array.isArray(outputs) ? outputs : [outputs];
}

/** The incoming gradient of output `index`. */
export const incoming = (dys: tf.Tensor | tf.Tensor[], index = 0): tf.Tensor =>
  Array.isArray(dys) ? dys[index]! : dys;
