/** Opens a stored version's files as a live Policy. */
import { RollmeshError } from '../core/errors.ts';
import type { Policy, PolicyRef } from '../core/policy.ts';
import { type VersionFiles, weightsFile } from '../core/schema/policy.ts';
import { checkCheckpoint } from '../model/checkpoint.ts';
import { type ModelConfig, parseConfig } from '../model/config.ts';
import { readSafetensors } from '../model/safetensors.ts';
import { streamSafetensors } from '../model/safetensors-stream.ts';
import type { Engines } from './engines.ts';
import { createKernelPolicy, loadKernelPolicy } from './kernels/kernel-policy.ts';
import { createPolicy } from './onnx-policy.ts';

/** Opens a policy of the kernels engine whose weights come piece by piece. */
export async function openStreamed(
  engines: Engines,
  ref: PolicyRef,
  configFile: Uint8Array,
  weights: AsyncIterable<Uint8Array>,
): Promise<OpenPolicy> {
  const loading = loadKernelPolicy(engines.kernels(), ref, configOf(configFile));
  for await (const piece of streamSafetensors(weights)) loading.write(piece);
  return loading.finish();
}

const configOf = (file: Uint8Array): ModelConfig => parseConfig(JSON.parse(new TextDecoder().decode(file)));

export interface OpenPolicy extends Policy {
  /** The bytes of wasm memory of what computes the policy, which only grows. */
  readonly heapBytes: number;
}

/** Opens a version in the engine that its reference names. Throws `wrong-input`, before computing anything, if the files are not a model. */
export async function openVersion(
  engines: Engines,
  ref: PolicyRef,
  files: VersionFiles,
): Promise<OpenPolicy> {
  const configFile = files['config.json'];
  const weightsBytes = files[weightsFile(ref.set)] ?? files[weightsFile()];
  if (!configFile || !weightsBytes)
    throw new RollmeshError(
      'give-up',
      'policy.incomplete',
      `Version ${ref.version} of ${ref.name} lacks config.json or ${weightsFile(ref.set)}.`,
    );
  const config = configOf(configFile);
  const weights = readSafetensors(weightsBytes);
  if (ref.engine) return createKernelPolicy(engines.kernels(), ref, config, weights);
  checkCheckpoint(config, weights);
  const runtime = await engines.onnx();
  return createPolicy({ runtime, ref, config, weights, weightType: ref.weights ?? 'float32' });
}
