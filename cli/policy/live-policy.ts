/** A stored version made live: on the generation runtime, or on the learner's device. */
import type { Policy, PolicyRef } from '../../core/policy.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { openVersion } from '../../infer/open-version.ts';
import { loadOrt } from '../../infer/ort.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { readSafetensors } from '../../model/safetensors.ts';

export type Scorer = Pick<Policy, 'score' | 'dispose'>;

/** A committed version has both files: the gateway takes none without. */
export const configOf = (files: VersionFiles): ModelConfig =>
  parseConfig(JSON.parse(new TextDecoder().decode(files['config.json'])));

export const openPolicy = async (ref: PolicyRef, files: VersionFiles): Promise<Policy> =>
  openVersion(await loadOrt(), ref, files);

export async function openScorer(
  engine: 'infer' | 'learner',
  ref: PolicyRef,
  files: VersionFiles,
): Promise<Scorer> {
  if (engine === 'infer') return openPolicy(ref, files);
  const { LearnerScorer } = await import('./learner-scorer.ts');
  return LearnerScorer.open(configOf(files), readSafetensors(files['model.safetensors']!));
}
