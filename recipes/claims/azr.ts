/** Absolute Zero's claim: proposing and solving programs over an interpreter makes a better solver of programs nobody proposed. */
import { type ArmResults, atEnd, type Claim, lately, rise } from '../../core/claims.ts';
import { mean } from '../../core/rl/statistics.ts';

const SEEDS = [0, 1, 2];
const END = 'sampled';

/** Mean over the seeds of how far one arm ends above another: single seeds differ by more than the arms are expected to. */
const above = (results: ArmResults, arm: string, other: string) =>
  mean(SEEDS.map((_, s) => atEnd(results, arm, s, END) - atEnd(results, other, s, END)));

export const azrClaim: Claim = {
  says: 'With no data but an interpreter the solver gets better at held-out programs; its own questions stay between too easy and too hard; references keep them diverse; every part of the full recipe counts.',
  seeds: SEEDS,
  rounds: 10,
  evaluateEvery: 10,
  pictures: {
    sampled: 'Held-out programs, sampled at temperature 1',
    accuracy: 'Held-out programs, greedy',
    inductionSampled: 'Induction alone, sampled',
  },
  arms: [
    { name: 'full', says: 'as published; exact rewards, so that this is the upper bound too' },
    { name: 'no references', variant: 'no-references', says: 'the proposer is shown no earlier programs' },
    { name: 'no induction', variant: 'no-induction', says: 'two of the three kinds' },
    { name: 'solver only', freeze: ['proposer'], says: 'the proposer stays version 0' },
    { name: 'pooled', variant: 'pooled', says: 'one baseline for all streams' },
    { name: 'format', reward: 'format', says: 'control: any answer in form is right' },
    { name: 'random', reward: 'random', says: 'control: a coin says what is right' },
  ],
  conditions: [
    {
      says: 'full: sampled held-out accuracy rises by 5 points',
      measure: (r, s) => rise(r, 'full', s, END),
      atLeast: 0.05,
    },
    {
      says: 'full: more than half of the valid proposals are neither always nor never solved (last five rounds)',
      measure: (r, s) => lately(r, 'full', s, 'interior'),
      atLeast: 0.5,
    },
    {
      says: 'distinct programs a proposal, full above no references (last five rounds)',
      measure: (r, s) => lately(r, 'full', s, 'distinct') - lately(r, 'no references', s, 'distinct'),
      atLeast: 0.05,
    },
    {
      says: 'induction, sampled, full above no induction',
      measure: (r, s) =>
        atEnd(r, 'full', s, 'inductionSampled') - atEnd(r, 'no induction', s, 'inductionSampled'),
      atLeast: 0.03,
    },
    ...['no references', 'no induction', 'solver only', 'pooled'].map((arm) => ({
      says: `sampled held-out accuracy at the end, full above ${arm}, mean of the seeds`,
      measure: (r: ArmResults) => above(r, 'full', arm),
      atLeast: 0,
    })),
    ...['format', 'random'].map((arm) => ({
      says: `${arm}: sampled held-out accuracy rises by no more than 3 points`,
      measure: (r: ArmResults, s: number) => rise(r, arm, s, END),
      atMost: 0.03,
    })),
  ],
  diagnosis:
    'Every arm whose solver is paid by the interpreter gains 4 to 9 points of sampled accuracy from nothing but its own proposals, and the controls gain none; full misses the bound by one point on one seed. References, induction and separate baselines do not show apart from that: their differences are of one to two points, which is the spread of 300 questions, and ten rounds from this warm start leave greedy accuracy where it was.',
};
