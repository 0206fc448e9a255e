/** The engines in a Worker, whose wasm modules are compiled when it is deployed. */

import dot from '../kernels/infer-dot.wasm';
import fused from '../kernels/infer-fused.wasm';
import plain from '../kernels/infer-plain.wasm';
import type { Engines } from './engines.ts';
import type { Builds } from './kernels/builds.ts';
import { ISOLATE_BYTES } from './kernels/kernel-policy.ts';
import { loadOrt } from './ort-workerd.ts';

const builds: Builds = { plain, fused, dot };

export const workerdEngines: Engines = { onnx: loadOrt, kernels: () => builds, kernelBytes: ISOLATE_BYTES };
