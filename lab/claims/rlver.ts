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
  gap: {
    figures: [],
    label: 'mood',
    meaning:
      'There is none. Talks are paid by the mood in which users leave, which falls and rises with every reply and is no share of content users.',
  },
  diagnosis:
    'The mood rises by 4.0 of 100 on average, 10.9 at most, and on two seeds of eight it falls, so that a rise of 5 is not shown (−0.5 to 8.6). More users are not left content: greedy 37.7 to 36.1 %, sampled 43.9 to 49.1 % (±5.4). What can be seen is that the mood is worth something as a reward: a coin and a payment for form lose 16.6 and 13.9 of mood and two thirds of the greedy answers. Harsh users teach as much as plain ones (0.1 apart, −2.1 to 2.4).',
};
