/** GRPO for a role of which several samples share a prompt, as an update part. */

import type { PolicyPart } from '../core/plan/training-plan.ts';
import { grpo } from '../core/rl/estimators/index.ts';
import type { Sample } from '../core/schema/sample.ts';
import { withAdvantages } from './solver.ts';

/** Samples of one role, each rewarded; `more` is what a recipe adds to the clipped objective, such as a KL penalty. */
export const reinforcedByPrompt = (
  role: string,
  samples: readonly Sample[],
  more: Partial<Pick<PolicyPart, 'kl' | 'entropy'>> = {},
): PolicyPart => {
  const advantages = grpo(
    samples.map(({ rewards }) => rewards.reward ?? null),
    samples.map(({ prompt }) => prompt.join()),
  );
  return {
    kind: 'policy',
    role,
    weight: 1,
    items: withAdvantages(samples, advantages),
    objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 },
    aggregation: { mode: 'token-mean' },
    ...more,
  };
};
