/** The claim of Search Self-Play: training the proposer keeps questions worth answering, and the reader keeps them answerable. */

import { mean } from 'rollmesh';
import type { ArmResults, Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, rises } from '../rule/conditions.ts';
import { lately, monitorOf } from '../rule/curves.ts';

/** The lowest mean of a monitor over five rounds in a row. */
const lowest = (results: ArmResults, arm: string, seed: number, figure: string) =>
  Math.min(
    ...monitorOf(results, arm, seed, figure).flatMap((_, i, all) =>
      i + 5 <= all.length ? [mean(all.slice(i, i + 5))] : [],
    ),
  );

export const claim: Claim = {
  description:
    'A proposer that is trained beside the solver makes questions harder as the solver gets better, so that the solver learns more than from a frozen proposer’s questions. Without the reader, or with a penalty for refused questions, that fails.',
  rounds: 30,
  evaluateEvery: 15,
  pictures: {
    sampled: 'Held-out questions of two and three hops, sampled',
    'sampled-3': 'Of three hops alone, sampled',
  },
  arms: [
    { name: 'ssp', description: 'as published: both roles trained, the reader admits' },
    { name: 'solver only', freeze: ['proposer'], description: 'the proposer stays at version 0' },
    {
      name: 'proposer only',
      freeze: ['solver'],
      description: 'the solver stays at version 0 while the proposer trains',
    },
    { name: 'no reader', variant: 'no-reader', description: 'nothing checks that a question has its answer' },
    { name: 'penalty', variant: 'penalty', description: 'a refused question earns -0.1' },
    formatArm('any answer at all pays the solver'),
    coinArm('a fair coin pays the solver'),
  ],
  partners: [{ partner: 'proposer', trained: 'ssp', frozen: 'solver only' }],
  conditions: [
    rises('ssp', 0.1),
    endsAbove('ssp', 'solver only'),
    endsAbove('ssp', 'proposer only'),
    endsAbove('ssp', 'no reader'),
    {
      description: 'the solver’s reward, last five rounds, solver only above ssp',
      measure: (results, seed) =>
        lately(results, 'solver only', seed, 'solverReward') - lately(results, 'ssp', seed, 'solverReward'),
      atLeast: 0.05,
    },
    {
      description:
        'share of questions that have the answer they were written for, last five rounds, ssp above no reader',
      measure: (results, seed) =>
        lately(results, 'ssp', seed, 'answerable') - lately(results, 'no reader', seed, 'answerable'),
      atLeast: 0.2,
    },
    {
      description:
        'questions admitted with a penalty, last five rounds, as a share of those admitted without',
      measure: (results, seed) =>
        lately(results, 'penalty', seed, 'valid') / lately(results, 'ssp', seed, 'valid'),
      atMost: 0.5,
    },
    doesNotRise('format'),
    doesNotRise('random'),
  ],
  observations: [
    {
      description: 'the solver’s lowest reward over five rounds in a row, solver only above ssp',
      measure: (results, seed) =>
        lowest(results, 'solver only', seed, 'solverReward') - lowest(results, 'ssp', seed, 'solverReward'),
      atLeast: 0.05,
    },
  ],
  diagnosis:
    'Eight seeds confirm that the spread over seeds is larger than the effects: the method ends between 39 and 85 %, and with a frozen proposer between 47 and 86 %. On four seeds the method gains 13 to 35 points, and on the other four it loses 4 to 11. Whether the policy comes to answer questions of three hops decides where it ends, and it does so about as often on a frozen proposer’s questions. Without the reader hardly a question keeps its answer, and accuracy ends 28 points lower (6 to 50): the reader is the one part whose worth is shown. A frozen solver does not gain. The solver’s reward is lower against a trained proposer, by 4 points, which is within noise of the bound. The penalty for refused questions does no harm: as many questions are admitted with it.',
};
