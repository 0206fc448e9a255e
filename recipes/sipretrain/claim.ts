/** The claim of self-improving pretraining: the best of several continuations teaches what a corpus with falsehoods does not, and a judge is needed. */
import type { Claim, Condition } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { early, lately, rise } from '../../core/claims/curves.ts';

/** Form apart from truth: the control that pays form makes more texts continuations, and no sentence of them truer. */
const TOLD = 'share of true sentences in sampled texts that are continuations';
const toldAbove = (other: string): Condition => ({
  ...endsAbove('sipretrain', other, POINTS, 'told'),
  description: `${TOLD} at the end, sipretrain above ${other}`,
});
const toldNoTruer = (arm: string): Condition => ({
  ...doesNotRise(arm, undefined, 'told'),
  description: `${arm}: ${TOLD} has not risen at the end`,
});

export const claim: Claim = {
  description:
    'Pretrained by preferring the best of a document’s continuation, a rewrite and its own, a policy tells fewer falsehoods than one that learns to predict the same documents, their rewrites, or the best candidates. Its own continuations come to be chosen in the place of rewrites. Without the judge nothing is gained.',
  startPolicy: 'documents-reading',
  // The first attempt, from a start of a sixth of the size, had 30 to 37.
  seeds: [38, 39, 40, 41, 42, 43, 44, 45],
  rounds: 12,
  evaluateEvery: 4,
  pictures: {
    accuracy: 'True sentences, greedy',
    sampled: 'True sentences, sampled',
    told: 'True sentences in texts that are continuations, sampled',
  },
  arms: [
    { name: 'sipretrain', description: 'as published: online DPO' },
    { name: 'nll', variant: 'nll', description: 'next-token prediction on the same documents' },
    { name: 'filtered', variant: 'filtered', description: 'next-token prediction on the best candidates' },
    { name: 'rewrites', variant: 'rewrites', description: 'next-token prediction on the rewrites' },
    {
      name: 'unjudged',
      variant: 'unjudged',
      description: 'control: next-token prediction on what the policy itself writes, and no judge is heard',
    },
    coinArm('a coin says what a continuation is worth', { seedCount: 8 }),
    formatArm('any continuation is worth as much as another', { seedCount: 8 }),
  ],
  conditions: [
    rises('sipretrain', POINTS),
    toldAbove('nll'),
    toldAbove('filtered'),
    toldAbove('rewrites'),
    {
      description: 'share of own continuations among the chosen, last three rounds above first three',
      measure: (r, s) =>
        lately(r, 'sipretrain', s, 'ownChosen', 3) - early(r, 'sipretrain', s, 'ownChosen', 3),
      atLeast: 0.1,
    },
    doesNotRise('unjudged'),
    toldNoTruer('random'),
    toldNoTruer('format'),
  ],
  observations: [
    endsAbove('sipretrain', 'filtered'),
    endsAbove('sipretrain', 'rewrites'),
    endsAbove('sipretrain', 'nll', POINTS, 'accuracy'),
    {
      description: 'unjudged: sampled accuracy falls',
      measure: (r, s) => -rise(r, 'unjudged', s, 'sampled'),
      atLeast: POINTS,
    },
    {
      description: 'by how much the judge overrates what it reads, last three rounds',
      measure: (r, s) => lately(r, 'sipretrain', s, 'overrated', 3),
      atMost: 0.05,
    },
  ],
  gap: {
    figures: ['overrated'],
    meaning:
      'The gap is what the judge says a document is worth minus its share of true sentences. Arms whose reward asks no judge have none.',
  },
  diagnosis:
    'The choice teaches, and no difference was found between two ways to learn from it. A policy that prefers the best of three continuations tells 18 points more true sentences than one that goes on with the documents (16 to 19), and its own continuations take the place of rewrites among the chosen, as the paper reports. But next-token prediction on the same best candidates comes to the same (−0.6 to 1.2 points), and on rewrites alone to four points less. The controls are not clean: a coin and form alone make texts well-formed, and form also makes them truer by 5.6 points, probably since the rewrites, which it prefers as often as anything else, are truer than the documents. Skill rises: greedy answers double from 34 to 68 % true. The judge overrates what it reads by 0.16 to the end, and nothing in the method mends that.',
};
