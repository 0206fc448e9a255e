/** What `npx rollmesh deploy --check` samples on an account and on this machine, to the same tokens. */
import type { GeneratePrompt, PolicyRef, SamplingSettings } from '../../core/policy/policy.ts';

/** Eight tokens after the beginning of an answer, of one sample, whatever they are: nothing ends them. */
export const TRIAL = {
  policy: { name: 'arithmetic-base', version: 0 } satisfies PolicyRef,
  prompt: { ids: [1, 5, 6, 7], sampleIds: ['trial'] } satisfies GeneratePrompt,
  settings: { maxNew: 8, temperature: 1, stop: [] } satisfies SamplingSettings,
} as const;

/** Files of the policy that sampling reads. */
export const TRIAL_FILES = ['config.json', 'model.safetensors'] as const;
