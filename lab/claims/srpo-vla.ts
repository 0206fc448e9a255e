/** The claim of SRPO (VLA): pay for failures that come near to successes teaches a robot more than success alone. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';

const SKILL = 'accuracy';

export const claim: Claim = {
  description:
    'A robot whose failures are paid by their likeness to the successes of the same room reaches its goal in more held-out rooms than one that is paid for success alone, at equal tokens. Likeness by numbers drawn at random does not do that.',
  rounds: 24,
  tokens: 42_000,
  evaluateEvery: 24,
  arms: [
    { name: 'srpo', description: 'as published' },
    { name: 'outcome', variant: 'outcome', description: 'failures are paid nothing (GRPO)' },
    {
      name: 'random likeness',
      variant: 'random-embedding',
      seedCount: 4,
      description: 'control: what an episode looks like is drawn at random',
    },
    {
      name: 'blind',
      variant: 'blind',
      seedCount: 4,
      description: 'control: the robot sees noise in place of the room',
    },
    coinArm('a fair coin pays an episode'),
    formatArm('turns that keep to the grammar are paid'),
  ],
  conditions: [
    endsAbove('srpo', 'outcome', POINTS, SKILL),
    rises('srpo', POINTS, SKILL),
    doesNotRise('blind', POINTS, SKILL),
    doesNotRise('random', POINTS, SKILL),
  ],
  observations: [
    endsAbove('srpo', 'outcome', POINTS),
    endsAbove('srpo', 'random likeness', POINTS, SKILL),
    endsAbove('srpo', 'format', POINTS, SKILL),
  ],
};
