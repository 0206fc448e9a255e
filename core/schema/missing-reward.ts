/** Why a reward that comes from outside is missing. Every kind is counted by its name in the round's report. */
import * as v from 'valibot';

/** Every kind, with what it means. */
export const MISSING_REWARDS = {
  'not-rated': 'the reward says itself that it has none for this rollout',
  threw: 'the module threw an error',
  'out-of-steps': 'the module did not end within its steps',
  'not-a-number': 'what was given is not a finite number',
} as const;
export type MissingReward = keyof typeof MISSING_REWARDS;

const isMissingReward = (value: unknown): value is MissingReward =>
  typeof value === 'string' && Object.hasOwn(MISSING_REWARDS, value);

/** By the name of the reward. */
export const missingRewards = v.record(
  v.string(),
  v.custom<MissingReward>(
    isMissingReward,
    'Expected a kind of missing reward that this version knows (core/schema/missing-reward.ts)',
  ),
);
