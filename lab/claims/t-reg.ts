/** T-REG’s claim: with token rewards the preference settles where the fault is, and costs no points. */
import type { ArmResults, Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsNoLower, formatArm, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

const DIP =
  'log-ratio of policy and start a token, elsewhere minus at a planted fault, last five rounds, nats';
const dip = (results: ArmResults, arm: string, seed: number): number => lately(results, arm, seed, 'dip');
const FIRST =
  'log-ratio of policy and start a token, elsewhere minus at the first token of a planted fault, last five rounds, nats';
const firstDip = (results: ArmResults, arm: string, seed: number): number =>
  lately(results, arm, seed, 'firstDip');
const toldApart = (results: ArmResults, arm: string, seed: number): number =>
  lately(results, arm, seed, 'main/responder/preference/accuracy');

export const claim: Claim = {
  description:
    'With a reward for each token, which the start policy gives by contrast of two wishes, the implicit reward of a response that was not trained on falls more at a word that stands there twice than DPO makes it fall, the pairs are told apart as well, and the responses earn as many points. Token rewards at other tokens do not make it fall more.',
  startPolicy: 'style-wishes',
  // The first attempt, from a start of a sixth of the size, had 30 to 37.
  seeds: [38, 39, 40, 41, 42, 43, 44, 45],
  rounds: 16,
  // Half of the recipe’s: the policy has six times the parameters, and a claim may take half an hour of two cores.
  tasks: 64,
  evaluateEvery: 4,
  pictures: { accuracy: 'Points of the rubric, greedy', sampled: 'Points of the rubric, sampled' },
  arms: [
    { name: 't-reg', description: 'as published' },
    { name: 'dpo', variant: 'dpo', description: 'DPO on such pairs, without token rewards' },
    {
      name: 'one wish',
      variant: 'one-wish',
      description: 'token rewards compare the wish for a better response with no wish',
    },
    {
      name: 'shuffled rewards',
      variant: 'shuffled-rewards',
      description: 'each response’s token rewards stand at tokens that are drawn',
    },
    coinArm('a coin says what a response is worth', { seedCount: 8 }),
    formatArm('any well-formed response is preferred to itself with its form broken', { seedCount: 8 }),
  ],
  conditions: [
    {
      description: `${DIP}, t-reg above dpo`,
      measure: (r, s) => dip(r, 't-reg', s) - dip(r, 'dpo', s),
      atLeast: 0.05,
    },
    {
      description: `${DIP}, t-reg above shuffled rewards`,
      measure: (r, s) => dip(r, 't-reg', s) - dip(r, 'shuffled rewards', s),
      atLeast: 0.05,
    },
    {
      description:
        'share of pairs that are told apart before they are trained on, last five rounds, t-reg no lower than dpo by more than 0.02',
      measure: (r, s) => toldApart(r, 't-reg', s) - toldApart(r, 'dpo', s),
      atLeast: -0.02,
    },
    endsNoLower('t-reg', 'dpo', 0.02),
    rises('t-reg', 0.05),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    ...(['dpo', 'one wish', 'shuffled rewards'] as const).map((other) => ({
      description: `${FIRST}, t-reg above ${other}`,
      measure: (r: ArmResults, s: number) => firstDip(r, 't-reg', s) - firstDip(r, other, s),
      atLeast: 0.05,
    })),
    {
      description: `${DIP}, t-reg above one wish`,
      measure: (r, s) => dip(r, 't-reg', s) - dip(r, 'one wish', s),
      atLeast: 0.05,
    },
    { description: `dpo: ${DIP}`, measure: (r, s) => dip(r, 'dpo', s), atLeast: 0.05 },
    {
      description: `shuffled rewards: ${DIP}`,
      measure: (r, s) => dip(r, 'shuffled rewards', s),
      atLeast: 0.05,
    },
  ],
  gap: {
    figures: ['reward', 'points'],
    meaning:
      'The gap is the reward minus the share of the rubric’s points. The rubric itself pays, so that only the controls have one.',
  },
  diagnosis:
    'Token rewards add so little to a pair that over the whole of a fault this claim cannot tell them from none. DPO alone makes a planted fault unlikelier than the rest of its response by 0.76 nats a token. With pairs by a coin it is 0.26 (0.18 to 0.35), and with form alone 0.56; but both keep the token rewards, which come from what the rubric taught the start, so that how much of the 0.76 owes nothing to the rubric was not measured. With token rewards it is 0.06 more (0.01 less to 0.13 more), and 0.03 more than with the same rewards at other tokens (0.06 less to 0.13 more). The bound of 0.05 was hard to reach: the token term pulls with α = 0.5 times the reward of a token, which is −0.08 on average over the letters of a fault (log 245), so by some 4 % as much as the pair. At the first letter, where the reward is −0.30, T-REG differs from DPO by 0.24 nats (0.03 to 0.45), of 2.6. But rewards at other tokens do not clearly do less there (0.13 less, 0.18 more to 0.44 less), nor does one wish compared with none (0.06 less, 0.09 more to 0.22 less). In the last five rounds T-REG tells its own pairs, some 50 a round, apart before it trains on them 3.9 points less often than DPO tells its own (8.0 less to 0.3 more). Sampled points rise by 14 in the four arms that the rubric pays, and greedy ones by 5. A coin gains 4.9: its token rewards can do that, and so can DPO on any pairs of its own responses; no arm has a coin without token rewards. Form alone, which has as many pairs now, loses 13 points. The larger start reads wishes better than that of the first attempt, which had found no difference at all (−0.04 to 0.04 nats), with twice the tasks a round.',
};
