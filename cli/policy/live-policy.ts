/** Opens a stored version as a live policy, on the generation runtime or on the learner's device. */
import type { Policy, PolicyRef } from '../../core/policy/policy.ts';
import { setFiles, type VersionFiles } from '../../core/schema/policy.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { folded, readAdapter } from '../../model/adapter.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { readSafetensors } from '../../model/safetensors.ts';

export type Scorer = Pick<Policy, 'score' | 'dispose'>;

/** Reads the model's config. A committed version has config.json and weights: the gateway accepts none without. */
export const configOf = (files: VersionFiles): ModelConfig =>
  parseConfig(JSON.parse(new TextDecoder().decode(files['config.json'])));

export const openPolicy = (ref: PolicyRef, files: VersionFiles): Promise<Policy> =>
  openVersion(nodeEngines, ref, files);

export async function openLearner(files: VersionFiles): Promise<Scorer> {
  const { LearnerScorer } = await import('./learner-scorer.ts');
  const { weights, adapter } = setFiles(files);
  const tensors = folded(readSafetensors(weights!), adapter && readAdapter(adapter));
  return LearnerScorer.open(configOf(files), new Map(tensors));
}
