/** PRIME's claim: dense rewards learn in fewer rounds than outcomes, and only a reward model that is kept up to date stays a good one. */
import { type ArmResults, atEnd, type Claim, lately, monitorOf, rise } from '../../core/claims.ts';
import { mean } from '../../core/rl/statistics.ts';
import { speed } from './speed.ts';

/** A reward model's AUC in the last five rounds less that in the three rounds after the frozen one stopped. */
const drift = (results: ArmResults, arm: string, seed: number) =>
  lately(results, arm, seed, 'auc') - mean(monitorOf(results, arm, seed, 'auc').slice(4, 7));

export const primeClaim: Claim = {
  says: 'Process rewards of an implicit reward model that learns from outcomes online make the policy learn in fewer rounds than outcomes alone; frozen, the reward model gets worse at telling the drifting policy’s answers apart.',
  seeds: [0, 1, 2],
  rounds: 12,
  evaluateEvery: 4,
  pictures: { sampled: 'Held-out accuracy, sampled at temperature 1' },
  arms: [
    { name: 'prime', says: 'as published: the reward model learns every round' },
    { name: 'outcome', variant: 'outcome', says: 'leave-one-out on outcomes alone' },
    { name: 'frozen', variant: 'frozen', says: 'the reward model learns in the first four rounds only' },
    { name: 'random', reward: 'random', says: 'control: a coin is the outcome, for both models' },
    { name: 'format', reward: 'format', says: 'control: any well-formed answer, for both models' },
  ],
  conditions: [
    {
      says: 'prime: time to nine tenths of what outcomes alone gain, as a share of theirs',
      measure: (r, s) => speed(r, 'prime', 'outcome', s),
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
      atLeast: -0.02,
    },
    {
      says: 'prime: AUC of the reward model on fresh steps, by the oracle, last five rounds: no step was labelled',
      measure: (r, s) => lately(r, 'prime', s, 'stepAuc'),
      atLeast: 0.6,
    },
    {
      says: 'prime: AUC on fresh answers does not fall',
      measure: (r, s) => drift(r, 'prime', s),
      atLeast: -0.03,
    },
    { says: 'frozen: AUC on fresh answers falls', measure: (r, s) => drift(r, 'frozen', s), atMost: -0.03 },
    {
      says: 'random: sampled accuracy does not rise',
      measure: (r, s) => rise(r, 'random', s, 'sampled'),
      atMost: 0.03,
    },
  ],
  diagnosis:
    'What the paper says of the frozen reward model holds, and strongly: once it stops, the policy walks away from it until it prefers wrong answers (AUC 0.2 to 0.4), and accuracy falls by half. Online it gets better all the way, 0.5 to 0.75 on answers and to 0.65 on steps that nobody labelled, and the policy learns fastest where it is best, in the last four rounds. But it starts as a copy of the reference and so knows nothing, and the credit divides its rewards by their largest sum, which makes the noise of the first six rounds as loud as a trained model’s rewards: that costs the policy more than the last rounds win back, and outcomes alone, whose greedy accuracy never falls, are ahead at round 12. Pilots with other seeds on other tasks say what helps: a larger step of the reward model (5e-4), two passes over a round’s answers and process rewards of weight 2 that count from the third round on give an AUC of .65 in the second round and .7 in the fourth, and the policy then keeps level with outcomes alone, 62.2 against 61.8 % after 16 rounds; with the published weight of 5 it stays behind, 60.6 %, and at three times the policy’s step size noise undoes both.',
};
