/**
 * The claim of PRIME: dense rewards need fewer updates than outcome rewards, and only a reward model that is trained along with the policy stays a
 * good one. What is counted are updates of the policy; rounds that train the reward model alone, which the paper does not have, count for neither
 * arm.
 */

import { mean } from 'rollmesh';
import type { ArmResults, Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { lately, monitorOf } from '../rule/curves.ts';
import { speed } from '../rule/speed.ts';

/** Evaluations during the rounds that train the reward model alone, and those rounds. */
const [ALONE, ALONE_ROUNDS] = [2, 8];

/**
 * A reward model's AUC in the last five rounds, minus that in the last three whose answers came from the start policy. The AUC is taken among answers
 * to one task, as credit compares them, because differences between tasks change while the policy is trained, whatever the reward model has learned.
 */
const drift = (results: ArmResults, arm: string, seed: number, figure = 'groupAuc') =>
  lately(results, arm, seed, figure) -
  mean(monitorOf(results, arm, seed, figure).slice(ALONE_ROUNDS - 2, ALONE_ROUNDS + 1));

export const claim: Claim = {
  description:
    'Process rewards of an implicit reward model that learns from outcomes beside the policy make the policy learn in fewer updates than outcomes alone, and end above them. Frozen, the reward model gets worse at telling the answers of the changing policy apart.',
  rounds: 24,
  quickRounds: ALONE_ROUNDS + 1,
  evaluateEvery: 4,
  pictures: { sampled: 'Held-out accuracy, sampled at temperature 1' },
  arms: [
    { name: 'prime', description: 'the reward model learns every round' },
    { name: 'outcome', variant: 'outcome', description: 'leave-one-out on outcomes alone' },
    {
      name: 'frozen',
      variant: 'frozen',
      description: 'the reward model learns in the first eight rounds, before the policy does, and no more',
    },
    coinArm('a coin is the outcome, for both models'),
    formatArm('any well-formed answer, for both models'),
  ],
  partners: [{ partner: 'reward model', trained: 'prime', frozen: 'frozen' }],
  conditions: [
    {
      description:
        'prime: updates of the policy to nine tenths of what outcomes alone gain, as a share of theirs',
      measure: (r, s) => speed(r, 'prime', 'outcome', s, ALONE),
      atMost: 0.7,
    },
    rises('prime', POINTS),
    endsAbove('prime', 'outcome'),
    endsAbove('prime', 'frozen'),
    {
      description:
        'prime: AUC of the reward model on the steps of fresh answers, by the exact checker, last five rounds; no step was labelled',
      measure: (r, s) => lately(r, 'prime', s, 'stepAuc'),
      atLeast: 0.6,
    },
    {
      description: 'prime: AUC among fresh answers to a task does not fall by more than 0.03',
      measure: (r, s) => drift(r, 'prime', s),
      atLeast: -0.03,
    },
    {
      description: 'frozen: AUC among fresh answers to a task falls',
      measure: (r, s) => drift(r, 'frozen', s),
      atMost: -0.03,
    },
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    {
      description:
        'updates of the policy to that gain, as a share of those of outcomes alone, prime less frozen',
      measure: (r, s) => speed(r, 'prime', 'outcome', s, ALONE) - speed(r, 'frozen', 'outcome', s, ALONE),
      atMost: -0.1,
    },
    {
      description: 'frozen: AUC among fresh answers to all tasks falls',
      measure: (r, s) => drift(r, 'frozen', s, 'auc'),
      atMost: -0.03,
    },
  ],
  diagnosis:
    'Every condition of the published contract holds on eight seeds. Prime takes 0.52 of the updates of outcomes alone (0.37 to 0.66; the paper has 0.4) and ends 16 points of sampled accuracy above them (11 to 21). Greedy accuracy does not rise (−3.9 points, −8.9 to 1.1), so that a policy was sharpened and no skill gained. With a reward model that is frozen after its first eight rounds the policy ends no higher than with outcomes alone and loses 38 greedy points. The AUC of that model among fresh answers to a task falls by 0.11, while that of the trained one rises by 0.11. The eight rounds in which the reward model learns alone count for neither arm and cost more rollouts than are saved. The lead depends on small batches: with sixteen tasks instead of eight, pilots had 0.82 and 0.73 of the updates (docs/log, entry 48).',
};
