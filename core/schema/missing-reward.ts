/** Why a reward that comes from outside is missing. Every kind is counted by its name in the round's report. */
import * as v from 'valibot';

/** Every kind, with what it means. */
export const MISSING_REWARDS = {
  'not-rated': 'the reward says itself that it has none for this rollout',
  threw: 'the module threw an error',
  'out-of-steps': 'the module did not end within its steps',
  'not-a-number': 'what was given is not a finite number',
  'timed-out': 'the service did not answer in time',
  unreachable: 'the service could not be reached',
  refused: 'the service answered with a status other than success, such as a redirect',
  unreadable:
    'the answer is not what was asked for: no JSON, not one reward for each rollout, or no grade of the rubric',
  'too-large': 'the answer is longer than is read',
  'cut-off': 'the judge did not end its judgment within its tokens',
  'no-room': 'the question, the answer and the rubric do not fit the judge’s context',
  abandoned: 'the agent went away before it said what its episode is worth',
  unended: 'the episode reached its limit of turns, tokens or positions before its game was over',
  'broken-rules': 'the rules of the game broke: they threw an error, or named a seat that nobody holds',
  'control-token':
    'the answer or its task holds a token that separates messages, which the judge would take for another message',
} as const;
export type MissingReward = keyof typeof MISSING_REWARDS;

const isMissingReward = (value: unknown): value is MissingReward =>
  typeof value === 'string' && Object.hasOwn(MISSING_REWARDS, value);

export const missingReward = v.custom<MissingReward>(
  isMissingReward,
  'Expected a kind of missing reward that this version knows (core/schema/missing-reward.ts)',
);

/** By the name of the reward. */
export const missingRewards = v.record(v.string(), missingReward);
