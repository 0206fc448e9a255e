/**
 * Opens a GPU through Dawn: the adapter and a device with all of the adapter's limits, whose errors end the run. tfjs would ask for
 * lower limits and ignore validation errors, after which tensors silently hold zeros.
 */
import { RollmeshError } from '../../../core/errors.ts';
import { probeAdapter } from './probe.ts';

/** The limits that the ops need; tfjs' own device leaves maxStorageBuffersPerShaderStage at 8. */
const LIMITS = [
  'maxBufferSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupStorageSize',
  'maxComputeWorkgroupsPerDimension',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
] as const;

let gpu: GPU | undefined;

/** Loads Dawn and sets the globals that tfjs expects of a browser. Throws where Dawn has no binary for the platform. */
async function loadGpu(): Promise<GPU> {
  if (gpu) return gpu;
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  gpu = create([]);
  const present = typeof navigator === 'undefined' ? {} : navigator;
  const own: Readonly<Record<PropertyKey, unknown>> = { gpu, userAgent: `node/${process.versions.node}` };
  // Node's own navigator has getters without setters, which read private fields: they must be called on it and on nothing else.
  const value = new Proxy(present, {
    get: (target, key) => (key in own ? own[key] : Reflect.get(target, key, target)),
    has: (target, key) => key in own || key in target,
  });
  Object.defineProperty(globalThis, 'navigator', { value, configurable: true });
  return gpu;
}

export interface GpuDevice {
  device: GPUDevice;
  info: GPUAdapterInfo;
  /** Throws the error that the driver has reported, if any; once there is one, every later call throws it too. */
  check(): void;
}

const NO_ADAPTER = 'no GPU adapter was found: there is no Vulkan, Metal or Direct3D driver.';
const NO_DAWN =
  'the package webgpu, which brings Dawn, is not installed. Install it beside rollmesh: `npm install webgpu@0.6.2`.';
const ONLY_SOFTWARE = 'the only adapter is a software driver, slower than the CPU device.';

/** Why Dawn cannot be asked at all. */
const notStarted = (error: unknown): string =>
  error instanceof Error && 'code' in error && /MODULE_NOT_FOUND$/.test(String(error.code))
    ? NO_DAWN
    : `WebGPU does not start here: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;

/** Undefined where there is a GPU that is worth a trial, or else a sentence that says why there is none. `software` counts a driver that computes on the CPU as well. */
export async function missingGpu(software: boolean): Promise<string | undefined> {
  try {
    const found = await probeAdapter();
    if (found === 'none') return NO_ADAPTER;
    return found === 'software' && !software ? ONLY_SOFTWARE : undefined;
  } catch (error) {
    return notStarted(error);
  }
}

/** The best adapter's device, be it a driver that computes on the CPU, or a sentence that says why there is none. */
export async function requestGpu(): Promise<GpuDevice | string> {
  let adapter: GPUAdapter | null;
  try {
    adapter = await (await loadGpu()).requestAdapter({ powerPreference: 'high-performance' });
  } catch (error) {
    return notStarted(error);
  }
  if (!adapter) return NO_ADAPTER;
  const requiredLimits: Record<string, number> = {};
  for (const name of LIMITS) requiredLimits[name] = adapter.limits[name];
  const device = await adapter.requestDevice({ requiredLimits });

  let failure: RollmeshError | undefined;
  const fail = (code: string, what: string): void => {
    failure ??= new RollmeshError('give-up', code, what, {
      next: 'Nothing computed since then counts: resume from the last checkpoint.',
    });
  };
  device.onuncapturederror = ({ error }) => fail('learner.gpu-error', `The GPU reported: ${error.message}.`);
  void device.lost.then(({ reason, message }) => {
    if (reason !== 'destroyed') fail('learner.gpu-lost', `The GPU device is lost: ${message}.`);
  });
  return {
    device,
    info: adapter.info,
    check: () => {
      if (failure) throw failure;
    },
  };
}
