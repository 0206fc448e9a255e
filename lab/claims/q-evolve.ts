/** The claim of Q-Evolve: an in-sample critic tells useful turns from wasted ones, and an agent learns more by its credit than by outcomes. */

import { mean } from 'rollmesh';
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { curveOf, lately } from '../rule/curves.ts';

const above =
  (figure: string, arm: string, other: string): Measure =>
  (r, s) =>
    lately(r, arm, s, figure) - lately(r, other, s, figure);
/** Mean of all evaluations after the first: how soon an arm gets good. */
const along = (r: Parameters<Measure>[0], arm: string, s: number) =>
  mean(curveOf(r, arm, s, 'sampled').slice(1));

const FAILED = 'area under the ROC curve of advantages for useful turns of failed episodes, last five rounds';

export const claim: Claim = {
  description:
    'A critic that learns from episodes by expectile regression tells turns that bring the goal nearer from others, also in episodes that fail, where outcomes say nothing. Paid by its advantages, an agent succeeds more often and sooner than paid by outcomes, and the better for an expectile above the mean; the same advantages at other turns do not serve it so.',
  rounds: 10,
  evaluateEvery: 5,
  pictures: { sampled: 'Success in held-out rooms, sampled at temperature 1' },
  arms: [
    { name: 'q-evolve', description: 'as published' },
    { name: 'outcome', variant: 'outcome', description: 'GRPO: all turns are paid the episode’s outcome' },
    {
      name: 'mean',
      variant: 'expectile-50',
      seedCount: 4,
      description: 'τ = 0.5: the critic regresses means',
    },
    {
      name: 'shuffled',
      variant: 'shuffled',
      seedCount: 4,
      description: 'advantages of other turns whose episodes ended alike',
    },
    coinArm('a fair coin pays each episode'),
    formatArm('an episode is paid for keeping to the grammar'),
  ],
  conditions: [
    {
      description: `q-evolve: ${FAILED}`,
      measure: (r, s) => lately(r, 'q-evolve', s, 'failedAuc'),
      atLeast: 0.6,
    },
    {
      description: `${FAILED}, q-evolve above shuffled`,
      measure: above('failedAuc', 'q-evolve', 'shuffled'),
      atLeast: POINTS,
    },
    {
      description: 'the same area over all turns, q-evolve above outcome',
      measure: above('auc', 'q-evolve', 'outcome'),
      atLeast: POINTS,
    },
    rises('q-evolve', 0.1),
    endsAbove('q-evolve', 'outcome'),
    {
      description: 'sampled success, mean of all evaluations after the start, q-evolve above outcome',
      measure: (r, s) => along(r, 'q-evolve', s) - along(r, 'outcome', s),
      atLeast: 0.03,
    },
    endsAbove('q-evolve', 'mean', 0.03),
    endsAbove('q-evolve', 'shuffled'),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  diagnosis:
    'At this size the method does not do what the paper reports. Sampled success rises by 4.6 points (−0.6 to 9.8), as it does when outcomes pay all turns alike (5.3), and greedy success falls in every arm, by 6.3 points here: a policy is sharpened and adds no skill. In episodes that fail, advantages tell useful turns from others no better than chance (0.51), so that there is nothing in them that outcomes do not say; over all turns the area is 0.03 above that of outcomes (0 to 0.07). Advantages that change places among turns of episodes that ended alike come out 2 points lower (−2.2 to 6.2), and an expectile above the mean buys nothing. The critic has 640 episodes in ten rounds, with one bit each, and is read one round late; the paper’s critic has a base model of billions of parameters and expert episodes in the same data. Seeds differ by up to 16 points at the end, more than any two arms that are paid for success.',
};
