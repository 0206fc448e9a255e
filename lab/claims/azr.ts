/**
 * The claim of Absolute Zero: a policy that proposes and solves programs over an interpreter becomes a better solver of programs that it did not
 * propose.
 */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { atEnd, lately } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'With no data but an interpreter the solver gets better at held-out programs. Its own questions are neither too easy nor too hard, references keep them diverse, and every part of the method adds accuracy.',
  rounds: 15,
  evaluateEvery: 15,
  pictures: {
    sampled: 'Held-out programs, sampled at temperature 1',
    accuracy: 'Held-out programs, greedy',
    inductionSampled: 'Induction alone, sampled',
  },
  arms: [
    { name: 'full', description: 'as published; rewards are exact, so that this is the upper bound too' },
    {
      name: 'no references',
      variant: 'no-references',
      description: 'the proposer is shown no earlier programs',
    },
    { name: 'no induction', variant: 'no-induction', description: 'two of the three kinds of question' },
    { name: 'solver only', freeze: ['proposer'], description: 'the proposer stays at version 0' },
    {
      name: 'pooled',
      variant: 'pooled',
      description: 'one baseline for all kinds of question and both roles',
    },
    formatArm('any well-formed answer is right'),
    coinArm('a coin says what is right'),
  ],
  partners: [{ partner: 'proposer', trained: 'full', frozen: 'solver only' }],
  conditions: [
    rises('full', POINTS),
    {
      description:
        'full: share of the valid proposals that are neither always nor never solved, last five rounds',
      measure: (r, s) => lately(r, 'full', s, 'interior'),
      atLeast: 0.5,
    },
    {
      description: 'programs of different behaviour that are known at the end, full above no references',
      measure: (r, s) => lately(r, 'full', s, 'known', 1) - lately(r, 'no references', s, 'known', 1),
      atLeast: 50,
    },
    ...['no references', 'no induction', 'solver only', 'pooled'].map((arm) => endsAbove('full', arm)),
    doesNotRise('format'),
    doesNotRise('random'),
  ],
  observations: [
    {
      description: 'accuracy of sampled induction at the end, full above no induction',
      measure: (r, s) =>
        atEnd(r, 'full', s, 'inductionSampled') - atEnd(r, 'no induction', s, 'inductionSampled'),
      atLeast: 0.02,
    },
  ],
  diagnosis:
    'The full method gains 8.2 points of sampled accuracy from nothing but its own proposals, and the controls gain nothing. Greedy accuracy falls by 1.5 points, so that a policy was sharpened and no skill gained. Of the parts of the method, references find about 200 more different programs. No part adds 5 points of accuracy: references add 1.6 (0.3 to 2.9), induction 0.2, training the proposer −0.9 and separate baselines −0.7 (−1.4 to −0.1), and all four intervals end below the bound. Training the proposer is worth nothing here: a frozen proposer that is shown what was found before drifts to long programs by itself. Six further regimes were tried on pilots and gained nothing (docs/log, entries 34 and 38).',
};
