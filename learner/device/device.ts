/**
 * Opens the device that the learner computes on: the CPU through SIMD kernels, or a GPU through WebGPU. One device is open at a time,
 * because tfjs has one active backend; opening another one closes the first and disposes its tensors.
 */
import { wrongInput } from '../../core/errors.ts';
import * as tf from '../tfjs.ts';
import type { DeviceHost } from './host.ts';
import { KernelRuntime } from './kernel-runtime.ts';
import { registerSimdKernels } from './simd/index.ts';
import { SIMD } from './simd/register.ts';
import { SimdBackend } from './simd-backend.ts';
import type { GpuFeature } from './webgpu/adapter.ts';

/** Cycles of about 10 microseconds, which is ten times the cost of handing a share to a waking thread. */
const SHARE_CYCLES = 32768;

/** WebGPU does not say how much memory a GPU has. So much is counted on. */
const GPU_BYTES = 4 * 1024 ** 3;

export interface DeviceSettings {
  device: 'cpu' | 'webgpu';
  /** Threads of the CPU device; default: the host's, which in Node are as many as the machine offers, at most 8. */
  threads?: number;
  /** Fused multiply-add on the CPU device where the engine has it; default true. */
  fma?: boolean;
  /**
   * Let V8 13 or later (Node 24) pair 128-bit operations into 256-bit ones on the CPU device, which is nearly twice as fast and gives the
   * same bits. V8 calls it experimental, so it is used only if a self-test passes; default true. V8's flag holds for the whole process.
   */
  revectorize?: boolean;
  /** Least work, in cycles, that the CPU device hands to another thread; default 32768. */
  shareCycles?: number;
  /** Features that a GPU is opened with where it has them; default: all that some kernel uses. */
  gpuFeatures?: readonly GpuFeature[];
}

export interface Device {
  readonly kind: 'cpu' | 'webgpu';
  /** Description of the device for logs. */
  readonly description: string;
  /** Resolves when all work given to the device so far is done. Await it once per step. */
  flush(): Promise<void>;
  /** Bytes that tensors take now, and their maximum since the last `resetPeak`. */
  memory(): { bytes: number; peakBytes: number };
  /** Bytes that the device has taken of its memory and gives back when it is closed, whether tensors use them now or not. */
  heldBytes(): number;
  /** Bytes that further tensors can take. */
  roomBytes(): number;
  resetPeak(): void;
  /** Closes the device and disposes every tensor on it. */
  close(): void;
}

let open: Device | undefined;

async function openCpu(host: DeviceHost, settings: DeviceSettings): Promise<Device> {
  const { threads = host.threads, fma = true } = settings;
  const { revectorize = true, shareCycles = SHARE_CYCLES } = settings;
  const runtime = await KernelRuntime.start(host, { threads, fma, revectorize, shareCycles });
  registerSimdKernels();
  tf.registerBackend(SIMD, () => new SimdBackend(runtime));
  await tf.setBackend(SIMD);
  const plural = runtime.threads === 1 ? '' : 's';
  const width = runtime.wideTiles ? '256-bit SIMD' : 'SIMD';
  const arithmetic = runtime.variant === 'fma' ? `${width} with fused multiply-add` : width;
  const device: Device = {
    kind: 'cpu',
    description: `CPU, ${runtime.threads} thread${plural}, ${arithmetic}`,
    flush: async () => {},
    memory: () => ({ bytes: runtime.arena.bytes, peakBytes: runtime.arena.peak }),
    heldBytes: () => runtime.memory.buffer.byteLength,
    roomBytes: () => runtime.roomBytes(),
    resetPeak: () => runtime.arena.resetPeak(),
    close: () => {
      if (open !== device) return; // another device took its place already
      tf.removeBackend(SIMD);
      open = undefined;
    },
  };
  return device;
}

async function openGpu(host: DeviceHost, { gpuFeatures }: DeviceSettings): Promise<Device> {
  const opened = await host.openGpu(gpuFeatures);
  if (typeof opened === 'string')
    throw wrongInput('learner.no-gpu', `The learner cannot use a GPU: ${opened}`, {
      next: 'Use the CPU device, or install a driver.',
    });
  const { backend, gpu } = opened;
  let peakBytes = 0;
  const bytes = (): number => {
    const { numBytesAllocatedInGPU } = backend.memory();
    peakBytes = Math.max(peakBytes, numBytesAllocatedInGPU);
    return numBytesAllocatedInGPU;
  };
  const { vendor, architecture, description, device: name } = gpu.info;
  // NVIDIA's description is the driver's version alone.
  const called = [name || [vendor, architecture].filter(Boolean).join(' '), description]
    .filter(Boolean)
    .join(', ');
  const device: Device = {
    kind: 'webgpu',
    description: ['WebGPU', called, ...gpu.features].join(', '),
    flush: async () => {
      await backend.finish();
      bytes();
    },
    memory: () => ({ bytes: bytes(), peakBytes }),
    heldBytes: bytes,
    roomBytes: () => GPU_BYTES - bytes(),
    resetPeak: () => {
      peakBytes = 0;
    },
    close: () => {
      if (open !== device) return; // another device took its place already
      tf.removeBackend('webgpu');
      gpu.device.destroy();
      open = undefined;
    },
  };
  return device;
}

/**
 * Opens a device and makes it the one that tfjs computes on. Throws `wrong-input` where a GPU is asked for and there is none; a software
 * driver counts as one. Which device is faster for a policy is found by learner/nn/device-trial.ts.
 */
export async function openDeviceOn(host: DeviceHost, settings: DeviceSettings): Promise<Device> {
  open?.close();
  open = settings.device === 'webgpu' ? await openGpu(host, settings) : await openCpu(host, settings);
  return open;
}

/** Bytes that further tensors can take on the device that is open. */
export function roomBytes(): number {
  if (!open) throw new Error('internal: no device is open.');
  return open.roomBytes();
}
