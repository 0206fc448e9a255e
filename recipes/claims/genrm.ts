/** GenRM's claim: checks that are written out make a better verifier than a glance or a head, and more of them a better one still. */
import { atEnd, type Claim, lately, rise } from '../../core/claims.ts';

export const genrmClaim: Claim = {
  says: 'Best-of-8 by a verifier that writes its check beats a verdict at a glance, which is no better than a classifier’s head; sixteen checks beat one.',
  seeds: [0, 1, 2],
  rounds: 12,
  evaluateEvery: 12,
  pictures: { accuracy: 'Best-of-8 on held-out tasks, by the run’s own verifier' },
  arms: [
    { name: 'genrm', says: 'as published: checks, λ = .3' },
    { name: 'direct', variant: 'direct', says: 'a verdict at a glance' },
    { name: 'head', variant: 'head', says: 'a classifier on the last token' },
    { name: 'random', reward: 'random', says: 'control: a coin is the label' },
  ],
  conditions: [
    {
      says: 'one check against a glance at the end',
      measure: (r, s) => atEnd(r, 'genrm', s, 'best1') - atEnd(r, 'direct', s, 'best1'),
      atLeast: 0.02,
    },
    {
      says: 'sixteen checks against one at the end',
      measure: (r, s) => atEnd(r, 'genrm', s, 'best16') - atEnd(r, 'genrm', s, 'best1'),
      atLeast: 0.01,
    },
    {
      says: 'glance against head, Best-of-8 on fresh tasks, last five rounds',
      measure: (r, s) => Math.abs(lately(r, 'direct', s, 'bestFresh') - lately(r, 'head', s, 'bestFresh')),
      atMost: 0.05,
    },
    {
      says: 'genrm: Best-of-8 by sixteen checks rises with training',
      measure: (r, s) => rise(r, 'genrm', s, 'best16'),
      atLeast: 0.02,
    },
    {
      says: 'random: Best-of-8 by sixteen checks does not rise',
      measure: (r, s) => rise(r, 'random', s, 'best16'),
      atMost: 0.02,
    },
  ],
  diagnosis:
    'The order of the paper is there in every seed: sixteen checks above one, one above a glance, a glance no better than a head. But it is the order that the warm start has already: some 5,000 labelled answers beside its 70,000 demonstrations do not raise it, and only keep it from the fall of the random control. Best-of-8 is also a harsh measure of a verifier that is right six times in ten: right answers to a task are all alike and have one score, while every wrong one is wrong in its own way and has a score of its own, so that the best score of eight is most often that of a wrong answer. Hence a glance is below one answer taken at random (52 %), and the plain vote (75 %) is above every verifier here.',
};
