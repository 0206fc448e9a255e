/** Registers the CPU device's kernels in tfjs, with typed access to inputs, outputs and numbers. */
import * as tf from '../../tfjs.ts';
import type { SimdBackend } from '../simd-backend.ts';

export const SIMD = 'simd';

export interface KernelCall {
  backend: SimdBackend;
  inputs: Record<string, tf.TensorInfo>;
  /** An attribute that must be a number or a boolean (as 0 and 1). */
  number(name: string): number;
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
      }),
  });
}
