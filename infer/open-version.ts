/** A stored version's files to a live Policy. */
import { RollmeshError } from '../core/errors.ts';
import type { PolicyRef } from '../core/policy.ts';
import { type VersionFiles, weightsFile } from '../core/schema/policy.ts';
import { checkCheckpoint } from '../model/checkpoint.ts';
import { parseConfig } from '../model/config.ts';
import { readSafetensors } from '../model/safetensors.ts';
import { createPolicy, type OnnxPolicy } from './onnx-policy.ts';
import type { Runtime } from './runtime.ts';

/** Throws `wrong-input` where the files are no model, before anything is computed with them. */
export function openVersion(runtime: Runtime, ref: PolicyRef, files: VersionFiles): Promise<OnnxPolicy> {
  const configFile = files['config.json'];
  const weightsBytes = files[weightsFile(ref.set)] ?? files[weightsFile()];
  if (!configFile || !weightsBytes)
    throw new RollmeshError(
      'give-up',
      'policy.incomplete',
      `Version ${ref.version} of ${ref.name} lacks config.json or ${weightsFile(ref.set)}.`,
    );
  const config = parseConfig(JSON.parse(new TextDecoder().decode(configFile)));
  const weights = readSafetensors(weightsBytes);
  checkCheckpoint(config, weights);
  return createPolicy({ runtime, ref, config, weights, weightType: ref.weights ?? 'float32' });
}
