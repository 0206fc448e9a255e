/** What spin is held to: with the data of fine-tuning alone, playing the previous iterate gains where more fine-tuning does not. */
import { type ArmResults, type Claim, curveOf, rise } from '../../core/claims.ts';

/** Value of a figure after an iteration, counted from 0. */
const after = (iteration: number, arm: string, figure: string) => (r: ArmResults, s: number) =>
  curveOf(r, arm, s, figure)[iteration + 1]!;
/** What spin's iteration 2 gains beyond its iteration 0. */
const growth = (figure: string) => (r: ArmResults, s: number) => {
  const [start, first, second, third] = curveOf(r, 'spin', s, figure);
  return third! - second! - (first! - start!);
};
const lead = (figure: string, over: string) => (r: ArmResults, s: number) =>
  after(0, 'spin', figure)(r, s) - after(0, over, figure)(r, s);

export const claim: Claim = {
  says: 'Playing against the previous iterate on the data of supervised fine-tuning gains where more fine-tuning on that data does not, most in the first iteration and little by the third.',
  seeds: [3, 4, 5],
  rounds: 3,
  evaluateEvery: 1,
  pictures: {
    accuracy: 'Held-out accuracy, greedy',
    sampled: 'Held-out accuracy, sampled',
    goldLikelihood: 'Likelihood of exact held-out traces, geometric mean a token',
  },
  arms: [
    { name: 'spin', says: 'three iterations as published' },
    { name: 'more sft', variant: 'sft', says: 'as many updates of supervised fine-tuning on the same data' },
    {
      name: 'published lambda',
      variant: 'published-lambda',
      says: 'the paper’s lambda of 0.1, which binds the player less to its opponent',
    },
    { name: 'random', reward: 'random', says: 'control: a coin says which of a pair is preferred' },
  ],
  conditions: [
    {
      says: 'sampled accuracy after the first iteration, spin above more sft',
      measure: lead('sampled', 'more sft'),
      atLeast: 0.01,
    },
    {
      says: 'likelihood of exact held-out traces after the first iteration, spin above more sft',
      measure: lead('goldLikelihood', 'more sft'),
      atLeast: 0,
    },
    {
      says: 'spin: the third iteration adds less likelihood than the first',
      measure: growth('goldLikelihood'),
      atMost: 0,
    },
    {
      says: 'random: sampled accuracy does not rise',
      measure: (r, s) => rise(r, 'random', s, 'sampled'),
      atMost: 0.02,
    },
  ],
  observations: [
    {
      says: 'spin: greedy accuracy rises over three iterations',
      measure: (r, s) => rise(r, 'spin', s),
      atLeast: 0.03,
    },
  ],
};
