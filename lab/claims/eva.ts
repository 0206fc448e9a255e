/** The claim of eva: prompts rewritten where most is to be gained teach more than prompts rewritten at random, where least is earned, or not at all. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { early, lately } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'Prompts that are rewritten in proportion to regret teach a solver more than prompts that are rewritten at random, prompts that are rewritten where least is earned, and prompts that are never rewritten. The prompts become more complex as the solver gets better.',
  rounds: 14,
  evaluateEvery: 7,
  pictures: { accuracy: 'Points of the rubric, greedy', sampled: 'Points of the rubric, sampled' },
  arms: [
    { name: 'eva', description: 'as published, with DPO' },
    { name: 'uniform', variant: 'uniform', description: 'the prompts to rewrite are drawn uniformly' },
    {
      name: 'lowest reward',
      variant: 'lowest-reward',
      description: 'prompts are rewritten the more often the less their responses earn',
    },
    {
      name: 'no evolution',
      variant: 'no-evolution',
      description: 'the prompts of the first round throughout',
    },
    coinArm('a coin says what a response is worth'),
    formatArm('any well-formed response is worth as much as another'),
  ],
  conditions: [
    endsAbove('eva', 'no evolution', 0.03),
    endsAbove('eva', 'uniform', 0.02),
    endsAbove('eva', 'lowest reward', 0.02),
    {
      description: 'eva: complexity of the prompts, last five rounds above the first three',
      measure: (r, s) => lately(r, 'eva', s, 'complexity') - early(r, 'eva', s, 'complexity'),
      atLeast: 0.5,
    },
    rises('eva', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('eva', 'no evolution', 0.03, 'long'),
    {
      description: 'regret of the prompts, last five rounds, eva above uniform',
      measure: (r, s) => lately(r, 'eva', s, 'regret') - lately(r, 'uniform', s, 'regret'),
      atLeast: 0.02,
    },
  ],
  gap: {
    figures: ['reward', 'points'],
    meaning:
      'The gap is the reward minus the share of the rubric’s points. The rubric itself pays, so that only the controls have one.',
  },
  diagnosis:
    'Rewriting prompts pays, and choosing them by regret adds nothing. Against the prompts of the first round throughout, sampled points end 2.9 higher (1.9 to 3.8), just at the bound, and 5.8 higher on long prompts (4.2 to 7.4), of which the first round has none. Prompts that are drawn uniformly for rewriting end 0.4 above those drawn by regret (−0.5 to 1.3), and those drawn by lowest reward 0.9 below (−0.9 to 2.6). Regret hardly selects: the prompts that are trained on have 0.4 points more of it than those drawn uniformly. No arm says why. The start is careless on all prompts alike, so that few have nothing left to gain, and the regret of five responses may say more of these responses than of the prompt. Complexity does rise by 1.8, with regret a little more than at random and most by lowest reward, which runs on to prompts that earn 61 % of the points. Of the gain of 6.8 points, 3 are skill and the others sharpening. That the control by form holds shows nothing: equal scores make no pairs, so that it trained on 666 to 2,443 tokens a run, 0.7 to 2.4 % of the some 101,000 of the main arm.',
};
