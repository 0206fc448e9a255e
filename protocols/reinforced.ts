/** GRPO for a role of which several samples share a prompt, as an update part. */
import type { PolicyPart } from '../core/plan/training-plan.ts';
import { grpo } from '../core/rl/estimators/index.ts';
import type { Sample } from '../core/schema/sample.ts';
import { ppoClip } from './objectives.ts';
import { creditedItems, policyPart, rewardOf } from './solver.ts';

/** Samples of one role, each rewarded; `more` is what a recipe adds to the clipped objective, such as a KL penalty. */
export const reinforcedByPrompt = (
  role: string,
  samples: readonly Sample[],
  more: Partial<Pick<PolicyPart, 'kl' | 'entropy'>> = {},
): PolicyPart => {
  const prompts = samples.map(({ prompt }) => prompt.join());
  return policyPart(role, creditedItems(samples, samples.map(rewardOf), prompts, grpo), {
    ...ppoClip(),
    ...more,
  });
};
