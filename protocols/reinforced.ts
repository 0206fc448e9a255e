/** GRPO for a role that answers the same several times, as an update part. */
import type { PolicyPart } from '../core/plan/training-plan.ts';
import { grpo } from '../core/rl/estimators/index.ts';
import type { Sample, ScoredGroup } from '../core/schema/sample.ts';
import { ppoClip } from './objectives.ts';
import { creditedItems, policyPart, rewardOf } from './solver.ts';

/** Samples of one role, each rewarded, and what each answers: those that answer the same are compared. */
export interface Answers {
  readonly samples: readonly Sample[];
  /** [samples] */
  readonly to: readonly string[];
}

/** What was written for the tasks, or for what a sample says it is about in their place. */
export const answersTo = (groups: readonly Pick<ScoredGroup, 'task' | 'samples'>[]): Answers => ({
  samples: groups.flatMap(({ samples }) => samples),
  to: groups.flatMap(({ task, samples }) => samples.map(({ about = task }) => about)),
});

/** What was said of solutions of the tasks. */
export const verdictsOn = (groups: readonly Pick<ScoredGroup, 'task' | 'judgments'>[]): Answers => ({
  samples: groups.flatMap(({ judgments }) => judgments),
  to: groups.flatMap(({ task, judgments }) => judgments.map(({ about }) => `${task}\n${about}`)),
});

/** `more` is what a recipe adds to the clipped objective, such as a KL penalty. */
export const reinforced = (
  role: string,
  { samples, to }: Answers,
  more: Partial<Pick<PolicyPart, 'kl' | 'entropy'>> = {},
): PolicyPart =>
  policyPart(role, creditedItems(samples, samples.map(rewardOf), to, grpo), { ...ppoClip(), ...more });
