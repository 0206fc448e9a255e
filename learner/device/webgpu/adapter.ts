/**
 * Opens a GPU through Dawn: the adapter and a device with all of the adapter's limits, whose errors end the run. tfjs would ask for
 * lower limits and ignore validation errors, after which tensors silently hold zeros.
 */
import { RollmeshError } from '../../../core/errors.ts';
import { probeAdapter } from './node-probe.ts';

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

/** What some kernels use where an adapter has it; without, others compute the same. */
export const GPU_FEATURES = ['subgroups', 'shader-f16'] as const;
export type GpuFeature = (typeof GPU_FEATURES)[number];

/** What a feature needs of the language besides: WGSL says by this which subgroup a thread belongs to. */
const LANGUAGE: Readonly<Partial<Record<GpuFeature, string>>> = { subgroups: 'subgroup_id' };

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
  /** Those that the device was opened with. */
  features: ReadonlySet<GpuFeature>;
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

/** The best adapter's device with those of the features that it has, be it a driver that computes on the CPU, or a sentence that says why there is none. */
export async function requestGpu(
  features: readonly GpuFeature[] = GPU_FEATURES,
): Promise<GpuDevice | string> {
  let adapter: GPUAdapter | null;
  let language: WGSLLanguageFeatures;
  try {
    const opened = await loadGpu();
    language = opened.wgslLanguageFeatures;
    adapter = await opened.requestAdapter({ powerPreference: 'high-performance' });
  } catch (error) {
    return notStarted(error);
  }
  if (!adapter) return NO_ADAPTER;
  const requiredLimits: Record<string, number> = {};
  for (const name of LIMITS) requiredLimits[name] = adapter.limits[name];
  const found = features.filter((name) => {
    const needed = LANGUAGE[name];
    return adapter.features.has(name) && (needed === undefined || language.has(needed));
  });
  const device = await adapter.requestDevice({ requiredLimits, requiredFeatures: found });

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
    features: new Set(found),
    check: () => {
      if (failure) throw failure;
    },
  };
}
