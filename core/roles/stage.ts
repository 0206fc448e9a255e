/** What every stage of a round is given, and the samples it makes. */

import { wrongInput } from '../errors.ts';
import type { Completion, Policy, SamplingSettings } from '../policy.ts';
import type { Recipe, RewardKind } from '../recipe.ts';
import type { RoundSpec } from '../schema/round.ts';
import type { Sample } from '../schema/sample.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';

export type RoleName = 'proposer' | 'solver' | 'judge';

export interface Stage {
  readonly recipe: Recipe;
  readonly round: RoundSpec;
  /** The policy of the version that the round names for the acting role. */
  readonly policy: Policy;
  readonly tokenizer: Tokenizer;
}

export function rewardKind(recipe: Recipe, reward: string): RewardKind {
  const kind = recipe.rewards[reward];
  if (!kind)
    throw wrongInput('recipe.reward', `Recipe ${recipe.name} has no reward "${reward}".`, {
      expected: `one of ${Object.keys(recipe.rewards).join(', ')}`,
    });
  return kind;
}

export function samplingOf(stage: Stage, role: RoleName): SamplingSettings {
  const { family, temperature } = stage.recipe;
  return { maxNew: family.maxNew[role], temperature, stop: [stage.tokenizer.id(family.stop)] };
}

/** A sample as it was generated; `outcome` and `rewards` are filled in by who reads it. */
export function sampleOf(
  stage: Stage,
  role: RoleName,
  id: string,
  prompt: readonly number[],
  completion: Completion,
  outcome: string,
  rewards: Sample['rewards'] = {},
): Sample {
  const { ids, logprobs, stopped } = completion;
  return {
    id,
    role,
    policy: { ...stage.policy.ref },
    prompt: [...prompt],
    ids,
    logprobs,
    stopped,
    outcome,
    rewards,
  };
}
