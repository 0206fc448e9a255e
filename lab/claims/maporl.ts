/** The claim of MAPoRL: agents that are trained together gain by a debate, and one that is trained beside a partner who is not gains less. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm } from '../rule/conditions.ts';
import { atEnd, curveOf } from '../rule/curves.ts';

const ROUNDS = 24;
const LEAST = 0.05;
/** Exact answers in the last turn of held-out debates less those in the first. */
const gain =
  (arm: string): Measure =>
  (results, seed) =>
    atEnd(results, arm, seed, 'lastTurn') - atEnd(results, arm, seed, 'firstTurn');
const gainAtStart =
  (arm: string): Measure =>
  (results, seed) =>
    curveOf(results, arm, seed, 'lastTurn')[0]! - curveOf(results, arm, seed, 'firstTurn')[0]!;

export const claim: Claim = {
  description:
    'Two agents that are trained together answer better after they have read each other than before, by more than where one of them keeps its first weights. Asked alone, an agent is as good as it was. The last turn of a debate is better than a vote among as many answers of one agent.',
  startPolicy: 'arithmetic-debating',
  startSeeds: 'one each',
  rounds: ROUNDS,
  evaluateEvery: ROUNDS,
  tokens: 240_000,
  pictures: {
    firstTurn: 'Held-out debates: exact answers in the first turn',
    lastTurn: 'Held-out debates: exact answers in the last turn',
    alone: 'A vote among four answers of the first agent alone',
  },
  arms: [
    { name: 'both', description: 'as published: both agents are trained' },
    {
      name: 'one',
      variant: 'untrained-partner',
      description: 'the partner keeps its first weights',
    },
    coinArm('a fair coin scores answers'),
  ],
  conditions: [
    {
      description: 'exact answers in the last turn less the first, at the end: both above one',
      measure: (r, s) => gain('both')(r, s) - gain('one')(r, s),
      atLeast: LEAST,
    },
    {
      description: 'both: exact answers in the last turn less the first, at the end above the start',
      measure: (r, s) => gain('both')(r, s) - gainAtStart('both')(r, s),
      atLeast: LEAST,
    },
    {
      description:
        'both, at the end: the last turn above a vote among as many answers of the first agent alone',
      measure: (r, s) => atEnd(r, 'both', s, 'lastTurn') - atEnd(r, 'both', s, 'alone'),
      atLeast: LEAST,
    },
    {
      description: 'random: exact answers in the last turn less the first have not grown',
      measure: (r, s) => gain('random')(r, s) - gainAtStart('random')(r, s),
      atMost: LEAST,
      control: true,
    },
  ],
  observations: [
    {
      description: 'both: the first agent’s sampled answers, asked alone, have not risen',
      measure: (r, s) => atEnd(r, 'both', s, 'sampled') - curveOf(r, 'both', s, 'sampled')[0]!,
      atMost: LEAST,
    },
  ],
  gap: {
    figures: [],
    label: 'verdicts of others',
    meaning:
      'There is none. An answer is paid for its own verdict and for what later answers of the other agent make of it, which is no share of exact answers.',
  },
  diagnosis:
    'Reading each other gains the same from start to end: version 0 is 4.6 points better in the last turn than in the first, two trained agents 5.1 points and one trained agent 5.6, so that training both is worth nothing over one (−0.4 points, −2.4 to 1.5). A vote among as many answers of one agent is as good as the debate (34.9 against 34.1 %). What is trained is sharpened: the first agent’s sampled answers rise by 7.6 points (6.3 to 9.0) and its greedy ones do not (−1.2 ± 1.7). A coin ruins the debate (15.6 %).',
};
