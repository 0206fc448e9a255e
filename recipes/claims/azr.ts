/** Absolute Zero's claim: proposing and solving programs over an interpreter makes a better solver of programs nobody proposed. */
import { type ArmResults, atEnd, type Claim, lately, rise } from '../../core/claims.ts';

const END = 'sampled';

export const azrClaim: Claim = {
  says: 'With no data but an interpreter the solver gets better at held-out programs; its own questions stay between too easy and too hard; references keep them diverse; every part of the full recipe counts.',
  seeds: [0, 1, 2],
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
      says: `sampled held-out accuracy at the end, full above ${arm}`,
      measure: (r: ArmResults, s: number) => atEnd(r, 'full', s, END) - atEnd(r, arm, s, END),
      atLeast: 0,
    })),
    ...['format', 'random'].map((arm) => ({
      says: `${arm}: sampled held-out accuracy rises by no more than 3 points`,
      measure: (r: ArmResults, s: number) => rise(r, arm, s, END),
      atMost: 0.03,
    })),
  ],
  diagnosis:
    'Every arm whose solver is paid by the interpreter gains 4 to 9 points of sampled accuracy from nothing but its own proposals, and the controls gain none; full gains 4.9 on average, just short of the bound. References, induction and separate baselines do not show apart from that: their differences are of one to two points, which is the spread of 300 questions, and ten rounds from this warm start leave greedy accuracy where it was. Pilots, one seed each, on other tasks that start at 30 %, say where the parts would show. Twenty rounds at a learning rate of 1e-3 bring their mechanisms out: 192 distinct programs are found with references and 103 without, where proposers come to repeat themselves (287 with a frozen proposer); half of the trained proposer’s questions are between too easy and too hard at the end and a third of the frozen one’s; with one baseline for all streams a third of the proposals are valid instead of two thirds. But that step size costs what it teaches: full ends at 25 %, solver only at 26, no references at 32, pooled at 31. In between (twelve rounds at 4e-4, the proposer’s loss at .3) full rises to 36.7 %, no references to 37.0 and solver only to 35.0. That a more diverse and harder stream of questions makes the better solver would take runs that are many times longer.',
};
