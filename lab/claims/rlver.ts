/** The claim of RLVER: an assistant that is paid by the mood of its users leaves new users in a better mood, and harder users teach it no more. */
import type { Claim } from '../rule/claim.ts';
import { doesNotRise, endsAbove, formatArm, rises } from '../rule/conditions.ts';

const ROUNDS = 24;
const MOOD = 'mood';
/** Least differences of the mood, which goes from 0 to 100. */
const LEAST = 5;
const DRIFT = 3;

export const claim: Claim = {
  description:
    'An assistant that is paid by the mood in which users leave comes to leave held-out users in a better one, and more of them content; one that is paid by a coin does not. Harder users teach it less.',
  startPolicy: 'arithmetic-debating',
  startSeeds: 'one each',
  rounds: ROUNDS,
  evaluateEvery: ROUNDS,
  tokens: 160_000,
  arms: [
    { name: 'rlver', description: 'as published, by GRPO' },
    {
      name: 'harsh',
      variant: 'harsh',
      description: 'users who never say what they want and lose twice as much',
    },
    { name: 'random', reward: 'random', description: 'control: a fair coin pays talks' },
    formatArm('talks are paid for replies that can be read'),
  ],
  conditions: [
    rises('rlver', LEAST, MOOD),
    endsAbove('rlver', 'random', LEAST, MOOD),
    rises('rlver', 0.05, 'accuracy'),
    endsAbove('rlver', 'harsh', DRIFT, MOOD),
    doesNotRise('random', DRIFT, MOOD),
    doesNotRise('format', DRIFT, MOOD),
  ],
};
