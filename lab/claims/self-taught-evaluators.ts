/**
 * The claim of self-taught evaluators: with every iteration a judge becomes better at errors it was not trained on, and this is not due to format or
 * chance.
 */
import type { Claim } from '../rule/claim.ts';
import { coinArm, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { curveOf, rise } from '../rule/curves.ts';

/** The largest fall from one iteration to the next, as a negative number; the smallest rise if none falls. */
export const worstStep = (curve: readonly number[]): number =>
  Math.min(...curve.slice(1).map((value, i) => value - curve[i]!));

export const claim: Claim = {
  description:
    'A judge that is fine-tuned on its own judgments, kept where they agree with pairs made by construction, judges natural errors better with every iteration and is less swayed by the position of an answer. Labels by coin and form alone teach it less.',
  rounds: 4,
  evaluateEvery: 1,
  pictures: {
    sampled: 'Accuracy on natural errors, sampled',
    sampledBias: 'Position bias, sampled: share of A less share of B',
    checked: 'Share of judgments that check before they choose',
  },
  arms: [
    { name: 'self-taught', description: 'as published: labels by construction' },
    { name: 'gold', reward: 'gold', description: 'upper bound: labels by the exact checker' },
    coinArm('a coin is the label', { seedCount: 8 }),
    formatArm('every well-formed judgment agrees', { seedCount: 8 }),
  ],
  conditions: [
    rises('self-taught', POINTS),
    {
      description: 'self-taught: the worst step of an iteration, in sampled accuracy',
      measure: (r, s) => worstStep(curveOf(r, 'self-taught', s, 'sampled')),
      atLeast: -0.02,
    },
    {
      description: 'self-taught: change of the position bias',
      measure: (r, s) => rise(r, 'self-taught', s, 'sampledBias'),
      atMost: -0.1,
    },
    endsAbove('self-taught', 'random'),
    endsAbove('self-taught', 'format'),
  ],
  observations: [
    rises('self-taught', 0.02, 'forcedWorked'),
    {
      ...endsAbove('gold', 'self-taught'),
      description: 'sampled accuracy at the end, gold above self-taught: what exact labels would add',
    },
  ],
  gap: {
    figures: [],
    label: 'no reward',
    meaning:
      'There is none. Judgments that agree with how a pair was made are imitated, and nothing is rewarded.',
  },
  diagnosis:
    'Sampled accuracy on natural errors rises from 0.71 to 0.87, falls in no iteration of any seed, and the position bias falls by 28 points. Exact labels are no better than labels by construction (0.3 points, −1.2 to 1.7). What is learned is to check before choosing: the start checks nearly without fault, and mostly says A where it only glances. Judgments with steps forced lose 2.7 points, so that the skill did not grow. Much of the gain needs no label: keeping as many A as B among all readable judgments removes glances that say A and reaches 81 % by itself. What labels add to that is 5.4 points (1.2 to 9.5), more than nothing and within noise of the bound of 5. Labels by coin lose accuracy.',
};
