/** Absolute Zero's claim: proposing and solving programs over an interpreter makes a better solver of programs that nobody proposed. */
import type { Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { atEnd, lately } from '../../core/claims/curves.ts';

export const azrClaim: Claim = {
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
    formatArm('any answer that keeps to the form is right'),
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
    'The full method gains 8.6 points of sampled accuracy from nothing but its own proposals, and the controls gain nothing. The gain is one of sampling: greedy accuracy stays where it was. Of the parts of the method, references find ten times as many different programs. None of the differences in accuracy between the full method and the arms without a part reaches 5 points: references are worth 1.3, induction 0.9 and separate baselines 0.3. Training the proposer is worth nothing here: a frozen proposer that is shown what was found before drifts to long programs by itself, and its solver ends 0.3 points above. Six further regimes were tried on pilots and gained nothing (docs/log, entries 34 and 38).',
};
