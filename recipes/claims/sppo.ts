/** SPPO's claim: under a preference without a best style it plays the mixture, where methods that follow the winner run away. */
import { type ArmResults, type Claim, curveOf, monitorOf, rise } from '../../core/claims.ts';
import { mean } from '../../core/rl/statistics.ts';

/** Mean of a curve's second half, where it has left the start behind. */
export const lateOf = (curve: readonly number[]): number => mean(curve.slice(Math.ceil(curve.length / 2)));
const exploited = (arm: string) => (r: ArmResults, s: number) => lateOf(curveOf(r, arm, s, 'exploitability'));
const chosenOf = (arm: string) => (r: ArmResults, s: number) => mean(monitorOf(r, arm, s, 'chosen').slice(1));

const conditions: Claim['conditions'] = [
  { says: 'sppo: exploitability, second half of the run', measure: exploited('sppo'), atMost: 0.1 },
  {
    says: 'dpo against sppo: exploitability, second half of the run',
    measure: (r, s) => exploited('dpo')(r, s) - exploited('sppo')(r, s),
    atLeast: 0.05,
  },
  {
    says: 'sppo: change of a chosen response’s log-likelihood in a round, nats',
    measure: chosenOf('sppo'),
    atLeast: 0,
  },
  {
    says: 'sppo against dpo: the same',
    measure: (r, s) => chosenOf('sppo')(r, s) - chosenOf('dpo')(r, s),
    atLeast: 0,
  },
  {
    says: 'sppo: points of sampled responses rise',
    measure: (r, s) => rise(r, 'sppo', s, 'sampled'),
    atLeast: 0.02,
  },
  { says: 'random: they do not', measure: (r, s) => rise(r, 'random', s, 'sampled'), atMost: 0.02 },
];

export const sppoClaim: Claim = {
  says: 'Under a cyclic preference SPPO stays near the mixed equilibrium, DPO on the same pairs runs away from it; SPPO’s chosen responses do not lose likelihood.',
  seeds: [0, 1, 2],
  rounds: 8,
  evaluateEvery: 2,
  pictures: {
    exploitability: 'Exploitability of the mixture of styles',
    sampled: 'Points of the rubric, share',
  },
  arms: [
    { name: 'sppo', says: 'each response regressed on its win rate' },
    { name: 'dpo', variant: 'dpo', says: 'iterative DPO on the same pairs' },
    { name: 'random', reward: 'random', says: 'control: preferences by coin' },
  ],
  conditions,
};
