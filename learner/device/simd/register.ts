/** Registers the CPU device's kernels in tfjs, with typed access to inputs, outputs and numbers. */
import * as tf from '../../tfjs.ts';
import type { SimdBackend } from '../simd-backend.ts';

export const SIMD = 'simd';

export interface KernelCall {
  backend: SimdBackend;
  inputs: Record<string, tf.TensorInfo>;
  /** An attribute that must be a number or a boolean (as 0 and 1). */
  number(name: string): number;
  /** An attribute that must be a list of numbers. */
  numbers(name: string): readonly number[];
}

export const sizeOf = (t: tf.TensorInfo): number => tf.util.sizeFromShape(t.shape);

/** Registers a kernel of the CPU device, replacing the one copied from tfjs' cpu backend if there is one. */
export function register(
  kernelName: string,
  run: (call: KernelCall) => tf.TensorInfo | tf.TensorInfo[],
): void {
  if (tf.getKernel(kernelName, SIMD)) tf.unregisterKernel(kernelName, SIMD);
  tf.registerKernel({
    kernelName,
    backendName: SIMD,
    kernelFunc: ({ inputs, backend, attrs }) =>
      run({
        backend: backend as SimdBackend,
        inputs: inputs as Record<string, tf.TensorInfo>,
        number: (name) => Number(attrs?.[name]),
        numbers: (name) => attrs?.[name] as number[],
      }),
  });
}

/** Inputs `<prefix>0`, `<prefix>1`, …, as many as there are. */
export function numbered(inputs: KernelCall['inputs'], prefix: string): tf.TensorInfo[] {
  const list: tf.TensorInfo[] = [];
  for (let input = inputs[`${prefix}0`]; input; input = inputs[`${prefix}${list.length}`]) list.push(input);
  return list;
}

/** An input as an output: it has the same data. */
export function passedOn({ backend, inputs }: KernelCall, name: string): tf.TensorInfo {
  const { dataId, shape, dtype } = inputs[name]!;
  backend.incRef(dataId);
  return { dataId, shape, dtype };
}
