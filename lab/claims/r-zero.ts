/**
 * The claim of R-Zero, and its phases: questions stay at the edge of what the solver can do, and the accuracy of its votes falls as they become
 * harder.
 */
import type { ArmResults, Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { lost, monitorOf } from '../rule/curves.ts';

/** Rounds of an iteration, of which the first train the challenger and the next one collects its questions. */
const ITERATION = 13;
const CHALLENGE = 7;
const ITERATIONS = 3;

/** A figure of the questions that were collected in an iteration (from 0). */
const collected = (results: ArmResults, arm: string, seed: number, figure: string, iteration: number) =>
  monitorOf(results, arm, seed, figure)[iteration * ITERATION + CHALLENGE] ?? Number.NaN;

const change = (results: ArmResults, arm: string, seed: number, figure: string) =>
  collected(results, arm, seed, figure, ITERATIONS - 1) - collected(results, arm, seed, figure, 0);

export const claim: Claim = {
  description:
    'Without any data, challenger and solver make each other better. The questions stay where the solver is in two minds and get harder, the labels get worse, and the solver still gains more than from the questions of an untrained challenger.',
  rounds: ITERATIONS * ITERATION,
  quickRounds: CHALLENGE + 2,
  evaluateEvery: ITERATION,
  pictures: {
    sampled: 'Held-out chains of three to five operators, sampled',
    accuracy: 'Held-out chains of three to five operators, greedy',
  },
  arms: [
    { name: 'full', description: 'as published' },
    {
      name: 'untrained challenger',
      freeze: ['challenger'],
      description: 'the challenger stays at version 0',
    },
    { name: 'no penalty', variant: 'no-penalty', description: 'repetition is not penalised' },
    { name: 'no filter', variant: 'no-filter', description: 'every question is trained on' },
    { name: 'oracle', reward: 'oracle', description: 'upper bound: exact labels' },
    coinArm('a coin in place of agreement'),
    formatArm('any well-formed answer in place of agreement'),
  ],
  partners: [{ partner: 'challenger', trained: 'full', frozen: 'untrained challenger' }],
  conditions: [
    rises('full', POINTS),
    {
      description: 'full: the solver’s agreement on the last collected questions, no lower than',
      measure: (r, s) => collected(r, 'full', s, 'agreement', ITERATIONS - 1),
      atLeast: 0.35,
    },
    {
      description: 'full: the solver’s agreement on the last collected questions, no higher than',
      measure: (r, s) => collected(r, 'full', s, 'agreement', ITERATIONS - 1),
      atMost: 0.65,
    },
    {
      description: 'full: operators by which questions get longer from the first iteration to the last',
      measure: (r, s) => change(r, 'full', s, 'difficulty'),
      atLeast: 0.3,
    },
    {
      description: 'full: accuracy of the labels that are trained on, last iteration less the first',
      measure: (r, s) => change(r, 'full', s, 'keptAccuracy'),
      atMost: -0.02,
    },
    ...['untrained challenger', 'no penalty', 'no filter'].map((arm) => endsAbove('full', arm)),
    {
      description: 'oracle: sampled accuracy at its best less at the end',
      measure: (r, s) => lost(r, 'oracle', s, 'sampled'),
      atMost: 0.05,
    },
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  diagnosis:
    'The solver gains 31 points of sampled accuracy and loses 3.6 greedily, so that a policy was sharpened and no skill gained. It ends 6.8 points above the solver of an untrained challenger (3.6 to 10.0), which is more than nothing and within noise of the bound of 5. The repetition penalty is worth less than the bound (0.9, −2.3 to 4.1) and the filter 1.6 (−2.0 to 5.2). Agreement stays near one half and questions get longer by 1.2 operators. The labels that are trained on get 5 points worse (−10.6 to 0.4), within noise. Exact labels end 4 points higher and keep the greedy accuracy of the start.',
};
