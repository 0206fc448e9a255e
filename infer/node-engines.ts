/** The engines in Node: how ONNX Runtime and the kernels are loaded there. */
import type { Engines } from './engines.ts';
import { loadBuilds } from './kernels/node-builds.ts';
import { loadOrt } from './ort.ts';

export const nodeEngines: Engines = { onnx: loadOrt, kernels: loadBuilds };
