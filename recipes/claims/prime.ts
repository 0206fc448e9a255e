/**
 * PRIME's claim: dense rewards learn in fewer updates than outcomes, and only a reward model that is kept up to date stays a good one.
 * Updates of the policy are what is counted; the rounds in which the reward model learns alone, as the paper's does not, count for neither arm.
 */
import { type ArmResults, atEnd, type Claim, lately, monitorOf, rise } from '../../core/claims.ts';
import { mean } from '../../core/rl/statistics.ts';
import { speed } from './speed.ts';

/** Evaluations while the reward model learns alone, and rounds. */
const [ALONE, ALONE_ROUNDS] = [3, 6];

/**
 * A reward model's AUC in the last five rounds less that in the last three on whose answers the policy had not moved yet. Among answers
 * to one task, as credit compares them: how much tasks differ changes while the policy learns, whatever the reward model knows.
 */
const drift = (results: ArmResults, arm: string, seed: number, figure = 'groupAuc') =>
  lately(results, arm, seed, figure) -
  mean(monitorOf(results, arm, seed, figure).slice(ALONE_ROUNDS - 2, ALONE_ROUNDS + 1));

export const primeClaim: Claim = {
  says: 'Process rewards of an implicit reward model that learns from outcomes online make the policy learn in fewer updates than outcomes alone; frozen, the reward model gets worse at telling the drifting policy’s answers apart.',
  seeds: [6, 7, 8],
  rounds: 12,
  evaluateEvery: 2,
  pictures: { sampled: 'Held-out accuracy, sampled at temperature 1' },
  arms: [
    { name: 'prime', says: 'the reward model learns every round' },
    { name: 'outcome', variant: 'outcome', says: 'leave-one-out on outcomes alone' },
    { name: 'frozen', variant: 'frozen', says: 'the reward model learns in its rounds alone and no more' },
    { name: 'random', reward: 'random', says: 'control: a coin is the outcome, for both models' },
    { name: 'format', reward: 'format', says: 'control: any well-formed answer, for both models' },
  ],
  conditions: [
    {
      says: 'prime: updates of the policy to nine tenths of what outcomes alone gain, as a share of theirs',
      measure: (r, s) => speed(r, 'prime', 'outcome', s, ALONE),
      atMost: 0.7,
    },
    {
      says: 'prime: sampled accuracy rises',
      measure: (r, s) => rise(r, 'prime', s, 'sampled'),
      atLeast: 0.05,
    },
    {
      says: 'prime against outcomes alone at the end, sampled',
      measure: (r, s) => atEnd(r, 'prime', s, 'sampled') - atEnd(r, 'outcome', s, 'sampled'),
      atLeast: 0,
    },
    {
      says: 'prime: AUC of the reward model on fresh steps, by the oracle, last five rounds: no step was labelled',
      measure: (r, s) => lately(r, 'prime', s, 'stepAuc'),
      atLeast: 0.6,
    },
    {
      says: 'prime: AUC among fresh answers to a task does not fall',
      measure: (r, s) => drift(r, 'prime', s),
      atLeast: -0.03,
    },
    {
      says: 'frozen: AUC among fresh answers to a task falls',
      measure: (r, s) => drift(r, 'frozen', s),
      atMost: -0.03,
    },
    ...['random', 'format'].map((arm) => ({
      says: `${arm}: sampled accuracy does not rise`,
      measure: (r: ArmResults, s: number) => rise(r, arm, s, 'sampled'),
      atMost: 0.03,
    })),
  ],
  observations: [
    {
      says: 'prime against frozen at the end, sampled',
      measure: (r, s) => atEnd(r, 'prime', s, 'sampled') - atEnd(r, 'frozen', s, 'sampled'),
      atLeast: 0,
    },
    {
      says: 'prime: AUC among fresh answers to all tasks does not fall',
      measure: (r, s) => drift(r, 'prime', s, 'auc'),
      atLeast: -0.03,
    },
    {
      says: 'frozen: AUC among fresh answers to all tasks falls',
      measure: (r, s) => drift(r, 'frozen', s, 'auc'),
      atMost: -0.03,
    },
  ],
  diagnosis:
    'Revised twice. On seeds 3 to 5, from a start with half of the answers right, prime took 1.1 to 1.3 times the updates of outcomes alone and ended below. Chains of eight operators the start gets right one time in twelve, but 87 in a hundred greedily: taught by outcomes alone for six rounds, the reward model finds the slips (AUC of steps .9), and the policy then takes .61, .60 and 1.02 of the updates. On seed 8, as on one pilot of three, outcomes alone were as fast. The six rounds are counted for neither arm and cost more rollouts than are saved. The paper’s weight of 5 is hacked within three updates; 1, and the step size at which outcomes do best, were chosen on pilots. Fewer than .7 of the updates are asked, as of the runs before: .74 on average fails, as pilots (.84, .66, .96) had said it would. AUC is asked among answers to a task, which is what credit compares; among all answers it does the same. Frozen it falls from .74 to .63, yet at the end its policy has 41 to 47 % against 44 to 55: six updates are too few for age to cost much.',
};
