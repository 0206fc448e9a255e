/** T-REG’s claim: with token rewards the preference settles where the fault is, and costs no points. */
import type { ArmResults, Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsNoLower, formatArm, rises } from '../../core/claims/conditions.ts';
import { lately } from '../../core/claims/curves.ts';

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
    'Rewards for tokens change nothing here. DPO alone makes a planted fault unlikelier than the rest of its response by 0.49 nats, since a word that stands twice is what often separates the best response from the worst; with token rewards it is as much (−0.05 to 0.04 nats of difference), and with the same rewards at other tokens as well. The points earned rise by 13 in all three arms. The contrast of two wishes, which this start policy was taught to read, seems to know the quality of a whole response and hardly the word that spoils it. A coin gains five points, so that a part of every rise has nothing to do with the rubric: DPO on any pairs of its own responses seems to make likelier what the policy preferred already. That the control by form holds shows nothing: equal scores make no pairs, so that it trained on 647 to 771 tokens a run, less than 0.5 % of the some 158,000 of the main arm.',
};
