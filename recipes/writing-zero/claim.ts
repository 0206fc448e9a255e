/** The claim of Writing-Zero: comparison with a random sibling teaches what is better, and exploits the judge less than its scores as rewards do. */
import type { Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { lately } from '../../core/claims/curves.ts';

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
    formatArm('any response in form is worth as much as another'),
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
};
