/** The engines in a Worker, whose wasm modules are compiled when it is deployed. */
import type { Engines } from './engines.ts';
import type { Builds } from './kernels/builds.ts';
import { ISOLATE_BYTES } from './kernels/kernel-policy.ts';
import dot from './kernels/kernels-dot.wasm';
import fused from './kernels/kernels-fused.wasm';
import plain from './kernels/kernels-plain.wasm';
import { loadOrt } from './ort-workerd.ts';

const builds: Builds = { plain, fused, dot };

export const workerdEngines: Engines = { onnx: loadOrt, kernels: () => builds, kernelBytes: ISOLATE_BYTES };
