/** Registers the GPU's kernels in tfjs, with typed access to inputs, outputs and numbers. */
import * as tf from '../../tfjs.ts';
import type { GpuBackend } from './gpu-backend.ts';

export const WEBGPU = 'webgpu';

export interface KernelCall {
  backend: GpuBackend;
  inputs: Record<string, tf.TensorInfo>;
  /** An attribute that must be a number or a boolean (as 0 and 1). */
  number(name: string): number;
}

export const sizeOf = (t: tf.TensorInfo): number => tf.util.sizeFromShape(t.shape);

/** Registers a kernel of the GPU device, replacing tfjs' own if there is one. */
export function register(
  kernelName: string,
  run: (call: KernelCall) => tf.TensorInfo | tf.TensorInfo[],
): void {
  if (tf.getKernel(kernelName, WEBGPU)) tf.unregisterKernel(kernelName, WEBGPU);
  tf.registerKernel({
    kernelName,
    backendName: WEBGPU,
    kernelFunc: ({ inputs, backend, attrs }) =>
      run({
        backend: backend as GpuBackend,
        inputs: inputs as Record<string, tf.TensorInfo>,
        number: (name) => Number(attrs?.[name]),
      }),
  });
}
