/** The learner's devices in Node. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { enableRevectorizer } from '../../kernels/node-revectorizer.ts';
import { type Device, type DeviceSettings, openDeviceOn } from './device.ts';
import type { DeviceHost } from './host.ts';
import { readKernels } from './node-kernel-files.ts';

const PRELUDE = `
const { workerData: w, parentPort } = require('node:worker_threads');
const ready = () => parentPort.postMessage('ready');
`;

export const nodeHost: DeviceHost = {
  threads: Math.min(8, availableParallelism()),
  kernels: readKernels,
  pairOperations: enableRevectorizer,
  startThread: async (source, workerData) => {
    // execArgv is empty, because the worker must not start a loader of the caller (tsx).
    const worker = new Worker(PRELUDE + source, { eval: true, execArgv: [], workerData });
    await new Promise<void>((ready, failed) => {
      worker.once('message', () => ready());
      worker.once('error', failed);
    });
    worker.unref();
  },
  availableBytes: () => process.availableMemory(),
  // Loaded only when a GPU is asked for: tfjs' WebGPU backend is large.
  openGpu: async (features) => (await import('./webgpu/index.ts')).openGpuBackend(features),
};

/** Opens a device in Node, see `openDeviceOn`. */
export const openDevice = (settings: DeviceSettings): Promise<Device> => openDeviceOn(nodeHost, settings);
