/** The engines in Node: how ONNX Runtime and the kernels are loaded there. */
import { totalmem } from 'node:os';
import type { Engines } from './engines.ts';
import { loadBuilds } from './kernels/node-builds.ts';
import { loadOrt } from './ort.ts';

/** WebAssembly's memory ends at 4 GiB. It grows as it is needed, so that a small policy takes little of this. */
const kernelBytes = Math.min(totalmem() / 4, 4 * 1024 ** 3);

export const nodeEngines: Engines = { onnx: loadOrt, kernels: loadBuilds, kernelBytes };
