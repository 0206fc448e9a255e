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
  gap: {
    figures: [],
    label: 'margins',
    meaning:
      'There is none. Answers are paid for what they add to those before them, which is no share of exact answers.',
  },
  diagnosis:
    'Debates of trained agents end where a vote of one of them does: 29.9 % exact against 33.3 % for four answers of the first agent alone (−8.8 to 2.0 points); at the start it is no different (1.4 points for the vote, −3.4 to 6.2). Pay for what an answer adds buys nothing over pay for each answer alone (−2.4 points, −8.8 to 3.9). The last turn gains 5.5 points in the run (0.4 to 10.6), which is sharpening: sampled answers rise by 7.0 points and greedy ones fall by 4.4 (0.3 to 8.5). A coin ends at 10.6 %. One seed of eight is pulled down by shaped pay (20.5 %).',
};
