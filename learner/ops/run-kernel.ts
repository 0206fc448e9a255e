/** Calls a kernel that tfjs knows only by name: the ops of this folder, registered once for each device. */
import * as tf from '../tfjs.ts';

/** Runs a kernel of the active device; on the tape like any op of tfjs. Always a list, also of one output. */
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
