/** The claim of self-improving pretraining: the best of several continuations teaches what a corpus with falsehoods does not, and a judge is needed. */
import type { Claim, Condition } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { early, lately } from '../../core/claims/curves.ts';

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
      seedCount: 4,
      description: 'control: own continuations are preferred to those of documents, and no judge is heard',
    },
    coinArm('a coin says what a continuation is worth'),
    formatArm('any continuation is worth as much as another'),
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
      description: 'by how much the judge overrates what it reads, last three rounds',
      measure: (r, s) => lately(r, 'sipretrain', s, 'overrated', 3),
      atMost: 0.05,
    },
  ],
};
