/** What spin is held to: with the data of fine-tuning alone, playing the previous iterate gains where more fine-tuning does not. */
import { type ArmResults, type Claim, curveOf, rise } from '../../core/claims.ts';

const after = (iteration: number, arm: string) => (results: ArmResults, seed: number) =>
  curveOf(results, arm, seed)[iteration + 1]!;
const gain = (r: ArmResults, s: number, iteration: number) => {
  const curve = curveOf(r, 'spin', s);
  return curve[iteration + 1]! - curve[iteration]!;
};

export const claim: Claim = {
  says: 'Playing against the previous iterate on the data of supervised fine-tuning gains where more fine-tuning on that data does not, most in the first iteration and little by the third.',
  seeds: [0, 1, 2],
  rounds: 3,
  evaluateEvery: 1,
  arms: [
    { name: 'spin', says: 'three iterations as published' },
    { name: 'more sft', variant: 'sft', says: 'as many updates of supervised fine-tuning on the same data' },
    { name: 'frozen opponent', freeze: ['opponent'], says: 'opponent and reference stay version 0' },
    {
      name: 'published lambda',
      variant: 'published-lambda',
      says: 'the paper’s lambda of 0.1, which binds the player less to its opponent',
    },
    {
      name: 'anchored',
      variant: 'anchored',
      says: 'diagnosis: with the likelihood of the data’s response beside the loss',
    },
    { name: 'random', reward: 'random', says: 'control: a coin says which of a pair is preferred' },
  ],
  conditions: [
    {
      says: 'greedy accuracy after the first iteration, spin above more sft',
      measure: (r, s) => after(0, 'spin')(r, s) - after(0, 'more sft')(r, s),
      atLeast: 0.02,
    },
    {
      says: 'spin: greedy accuracy rises over three iterations',
      measure: (r, s) => rise(r, 'spin', s),
      atLeast: 0.03,
    },
    {
      says: 'spin: the third iteration gains less than the first',
      measure: (r, s) => gain(r, s, 2) - gain(r, s, 0),
      atMost: 0,
    },
    {
      says: 'spin: log-likelihood of exact held-out traces rises, nats a token',
      measure: (r, s) => rise(r, 'spin', s, 'goldLogProb'),
      atLeast: 0,
    },
    { says: 'random: greedy accuracy does not rise', measure: (r, s) => rise(r, 'random', s), atMost: 0.02 },
  ],
};
