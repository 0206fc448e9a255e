/** The engines that tests hold to the same promises. */
import type { KernelEngine, Policy } from '../../core/policy/policy.ts';
import { createKernelPolicy } from '../../infer/kernels/kernel-policy.ts';
import { loadBuilds } from '../../infer/kernels/node-builds.ts';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import type { ModelConfig } from '../../model/config.ts';
import type { Tensors } from '../../model/safetensors.ts';

export interface TestedEngine {
  readonly name: string;
  readonly open: (config: ModelConfig, weights: Tensors) => Promise<Policy>;
  /** Nats that log-probabilities may differ from float64. */
  readonly tolerance: number;
}

const onnx = (name: string, prepack: boolean): TestedEngine => ({
  name,
  tolerance: 1e-4,
  open: async (config, weights) =>
    createPolicy({ runtime: await loadOrt(), ref: { name: 'test', version: 0 }, config, weights, prepack }),
});

const kernels = (engine: KernelEngine): TestedEngine => ({
  name: engine,
  tolerance: 1e-5,
  open: async (config, tensors) =>
    createKernelPolicy(loadBuilds(), { name: 'test', version: 0, engine }, config, tensors),
});

/** Node 20 has relaxed SIMD behind a flag only. */
const hasFused = loadBuilds().fused !== undefined;

/** In float32. */
export const TESTED_ENGINES: readonly TestedEngine[] = [
  onnx('onnx', true),
  onnx('onnx without prepacking', false),
  kernels('kernels-plain'),
  ...(hasFused ? [kernels('kernels')] : []),
];
