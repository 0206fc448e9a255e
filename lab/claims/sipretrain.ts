/** The claim of self-improving pretraining: the best of several continuations teaches what a corpus with falsehoods does not, and a judge is needed. */
import type { Claim, Condition } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { early, lately, rise } from '../rule/curves.ts';

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
    'The choice teaches, and no difference was found between two ways to learn from it. A policy that prefers the best of its candidates ends with 19.1 points more of true sentences in its continuations (18.4 to 19.9), 17.3 above one that goes on with the documents, and its own continuations take the place of rewrites among the chosen, as the paper reports. But next-token prediction on the same best candidates comes to the same (0.4 points less; 1.7 less to 0.9 more), and on rewrites alone to 3.5 points less (2.8 to 4.3), where 5 were asked. A policy that imitates whatever it writes itself falls apart, as the paper says, and what it loses is its form: 70 % of its texts are continuations at the end, of 90 at the start, and their sentences are nearly as true as before (0.8 points less). The coin is clean in what was asked; its sentences are truer by 1.7 points (0.5 to 2.9), as with the documents alone (1.8), and its greedy answers by 4.4 (1.0 to 7.9). Form alone is not clean: it makes sentences truer by 4.6 points (4.1 to 5.1) and greedy answers by 12.9, probably since the rewrites, which it prefers in 22 % of its pairs, as often as the documents, are truer than the documents. Skill rises: greedy answers go from 35 to 69 % true, all of it in the first four rounds. The judge overrates what it reads by 0.12 in the first three rounds and by 0.16 in the last three, where with the documents alone it stays at 0.12, and nothing in the method mends that. The larger start reads documents hardly better than the small one of the first attempt (log 245), and the arms that both attempts have come out in the same order, but for the coin and the documents, which are within noise of each other.',
};
