/** The engines in Node: how ONNX Runtime and the kernels are loaded there. */
import { availableParallelism, totalmem } from 'node:os';
import type { Engines } from './engines.ts';
import { ISOLATE_BYTES } from './kernels/kernel-policy.ts';
import { loadBuilds } from './kernels/node-builds.ts';
import { loadOrt } from './ort.ts';

/**
 * A node computes on up to as many threads as there are cores, and all of them together are to take half of the memory at most. WebAssembly's
 * memory ends at 4 GiB. Only what is written takes any of the machine's memory, so that a small policy takes little of this.
 */
const kernelBytes = Math.max(
  ISOLATE_BYTES,
  Math.min(totalmem() / (2 * availableParallelism()), 4 * 1024 ** 3),
);

export const nodeEngines: Engines = { onnx: loadOrt, kernels: loadBuilds, kernelBytes };
