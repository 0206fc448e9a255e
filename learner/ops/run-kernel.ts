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

const WITHOUT_GRADIENT = new Map<string, ReadonlySet<number>>();

/** Says which outputs of a kernel serve its own gradient alone, so that none flows back to them. */
export function withoutGradient(kernel: string, ...outputs: readonly number[]): void {
  WITHOUT_GRADIENT.set(kernel, new Set(outputs));
}

export const hasNoGradient = (kernel: string, output: number): boolean =>
  WITHOUT_GRADIENT.get(kernel)?.has(output) ?? false;
