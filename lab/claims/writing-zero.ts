/** The claim of Writing-Zero: comparison with a random sibling teaches what is better, and exploits the judge less than its scores as rewards do. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'Paid by whether they beat a sibling drawn at random, responses come to earn more points of a rubric that nobody shows the policy, than paid by the scores of the same judge as a scale, and the judge overrates them less. With a yardstick that stays where it is less is learned.',
  rounds: 24,
  evaluateEvery: 8,
  pictures: { accuracy: 'Points of the rubric, greedy', sampled: 'Points of the rubric, sampled' },
  arms: [
    { name: 'writing-zero', description: 'as published' },
    { name: 'scalar', variant: 'scalar', description: 'the judge’s scores are a scale (GRPO)' },
    {
      name: 'fixed yardstick',
      variant: 'fixed-yardstick',
      description: 'responses are compared with 0.7 of the points, and with no sibling',
    },
    { name: 'rubric', reward: 'rubric', description: 'upper bound: the points of the rubric are compared' },
    coinArm('a coin says what a response is worth'),
    formatArm('any well-formed response is worth as much as another'),
  ],
  conditions: [
    rises('writing-zero', POINTS),
    endsAbove('writing-zero', 'scalar'),
    {
      description: 'by how much the judge overrates responses, last five rounds, scalar above writing-zero',
      measure: (r, s) => lately(r, 'scalar', s, 'overrated') - lately(r, 'writing-zero', s, 'overrated'),
      atLeast: 0.03,
    },
    endsAbove('writing-zero', 'fixed yardstick', 0.03),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  gap: {
    figures: ['overrated'],
    meaning:
      'The gap is the judge’s score minus the share of the rubric’s points, since responses are paid for comparisons, whose mean does not change. Arms whose reward asks no judge have none.',
  },
  diagnosis:
    'Comparison with a sibling resists nothing here. All three ways of paying by the judge lengthen responses by about one and a half tokens, lose two and a half to five points of the rubric in the first eight rounds while they do, and win them back. At the end writing-zero has gained 0.5 points (−1.0 to 2.0), is 1.4 below the same judge’s scores as a scale (0.3 to 2.4 below, on all eight seeds), and the judge overrates its responses by as much (0.20 each). The yardstick that stays is no worse either. The reason is in the judge: its liking for length is a part of each score, so that the longer of two siblings wins a comparison as it earns more on a scale; comparing drops how large a difference is, and not what it is for. Paid by the points of the rubric themselves, the same comparison gains 7.9 points and shortens responses, so that the way of learning works and what it is told does not. A pilot of one seed had shown the opposite order (docs/log, entry 104); eight seeds do not bear it out. That the control by form holds shows nothing: equal scores leave nothing to compare, so that it trained on 507 to 1,539 tokens a run, 0.2 to 0.6 % of the some 250,000 of the main arm.',
};
