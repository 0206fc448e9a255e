/** The claim of MARTI: trained agents that debate answer better than one of them that votes with itself, and pay shaped by the history is a part of it. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove } from '../rule/conditions.ts';
import { atEnd, curveOf } from '../rule/curves.ts';

const ROUNDS = 36;
const LEAST = 0.05;
const LAST = 'lastTurn';

export const claim: Claim = {
  description:
    'Two agents that are trained in debates answer better at the end of one than a vote among as many answers of one agent, which untrained agents do not. Paid for what they add to the answers before theirs, they end above agents that are paid for each answer alone.',
  startPolicy: 'arithmetic-debating',
  startSeeds: 'one each',
  rounds: ROUNDS,
  evaluateEvery: ROUNDS,
  tokens: 160_000,
  pictures: {
    [LAST]: 'Held-out debates: exact answers in the last turn',
    alone: 'A vote among four answers of the first agent alone',
  },
  arms: [
    { name: 'marti', description: 'as published: a debate, with pay shaped by the margin' },
    { name: 'no shaping', variant: 'no-shaping', description: 'each answer is paid for itself alone' },
    coinArm('a fair coin scores answers'),
  ],
  conditions: [
    {
      description:
        'marti, at the end: the last turn above a vote among as many answers of the first agent alone',
      measure: (r, s) => atEnd(r, 'marti', s, LAST) - atEnd(r, 'marti', s, 'alone'),
      atLeast: LEAST,
    },
    {
      ...endsAbove('marti', 'no shaping', LEAST, LAST),
      description: 'exact answers in the last turn, at the end: marti above no shaping',
    },
    {
      description: 'marti: exact answers in the last turn rise',
      measure: (r, s) => atEnd(r, 'marti', s, LAST) - curveOf(r, 'marti', s, LAST)[0]!,
      atLeast: LEAST,
    },
    {
      ...doesNotRise('random', LEAST, LAST),
      description: 'random: exact answers in the last turn have not risen',
    },
  ],
  observations: [
    {
      description: 'the start: a vote among four answers of one agent above the last turn of debates',
      measure: (r, s) => curveOf(r, 'marti', s, 'alone')[0]! - curveOf(r, 'marti', s, LAST)[0]!,
      atLeast: LEAST,
    },
    {
      description: 'marti: greedy accuracy of the first agent, asked alone, rises',
      measure: (r, s) => atEnd(r, 'marti', s) - curveOf(r, 'marti', s)[0]!,
      atLeast: LEAST,
    },
  ],
};
