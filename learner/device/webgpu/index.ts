/** The GPU device as a tfjs backend. Loaded only when a GPU is asked for: tfjs' WebGPU backend is large. */
import * as tf from '../../tfjs.ts';
import { type GpuDevice, type GpuFeature, requestGpu } from './adapter.ts';
import { registerAttention } from './attention.ts';
import { GpuBackend } from './gpu-backend.ts';
import { registerLogProbs } from './log-probs.ts';
import { registerOptimiser } from './optimiser.ts';
import { registerProducts } from './products.ts';
import { WEBGPU } from './register.ts';
import { registerRows } from './rows.ts';

/** Number of dispatches that are recorded before they are submitted: a submit costs about as much as ten dispatches. */
const SUBMIT_EVERY = 96;

let registered = false;

function registerKernels(): void {
  if (registered) return;
  registered = true;
  registerProducts();
  registerRows();
  registerAttention();
  registerLogProbs();
  registerOptimiser();
}

/** Registers and activates the backend with those of the features that the adapter has, or says why there is no GPU. */
export async function openGpuBackend(
  features?: readonly GpuFeature[],
): Promise<{ backend: GpuBackend; gpu: GpuDevice } | string> {
  const gpu = await requestGpu(features);
  if (typeof gpu === 'string') return gpu;
  registerKernels();
  tf.env().set('WEBGPU_DEFERRED_SUBMIT_BATCH_SIZE', SUBMIT_EVERY);
  // A small tensor that still lies on the host would otherwise be computed there, and then read back.
  tf.env().set('WEBGPU_CPU_FORWARD', false);
  const backend = new GpuBackend(gpu);
  // tfjs registers its own where it is loaded after Dawn.
  if (tf.findBackendFactory(WEBGPU)) tf.removeBackend(WEBGPU);
  tf.registerBackend(WEBGPU, () => backend);
  await tf.setBackend(WEBGPU);
  return { backend, gpu };
}
