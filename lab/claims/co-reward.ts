/** The claim of Co-Reward: a majority over answers to another phrasing is a better teacher than the majority over one's own, and collapses later. */
import type { Claim } from '../rule/claim.ts';
import {
  coinArm,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../rule/conditions.ts';
import { lately, lost } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'Labelled by the majority on the same question in other words, answers are paid right more often than by the majority on the question itself, a policy learns nearly as much as from exact answers, and it loses less of it as training goes on.',
  rounds: 24,
  evaluateEvery: 4,
  pictures: {
    accuracy: 'Greedy accuracy on held-out tasks',
    sampled: 'Sampled accuracy on held-out tasks',
  },
  arms: [
    { name: 'co-reward', description: 'the majority on the question in other words is paid' },
    { name: 'majority', reward: 'majority', description: 'the majority on the question itself is paid' },
    { name: 'gold', reward: 'gold', description: 'upper bound: exact answers' },
    coinArm('a fair coin'),
    formatArm('any well-formed answer'),
  ],
  conditions: [
    {
      description:
        'share of exact answers among those that are paid, last five rounds, co-reward above majority',
      measure: (r, s) => lately(r, 'co-reward', s, 'paidExact') - lately(r, 'majority', s, 'paidExact'),
      atLeast: POINTS,
    },
    endsAbove('co-reward', 'majority'),
    endsNoLower('co-reward', 'gold', 0.07),
    {
      description: 'sampled accuracy lost from the best to the end, majority above co-reward',
      measure: (r, s) => lost(r, 'majority', s, 'sampled') - lost(r, 'co-reward', s, 'sampled'),
      atLeast: POINTS,
    },
    rises('co-reward', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [endsAbove('co-reward', 'majority', POINTS, 'accuracy'), rises('gold', POINTS)],
  diagnosis:
    'The mechanism does what it says in the mean and not on every seed. Of the answers that are paid in the last five rounds 11 points more are exact than by a majority of the same answers, on seven of eight seeds, and the policy ends 4.8 points above it, on six of eight: both means are near or above what was asked, and both intervals reach below. Labels from other words are no substitute for exact answers: these end 9.4 points higher in sampled accuracy and 13 in greedy accuracy. In no arm is a skill learned. The start answers without steps, and what rises, greedy accuracy from 41 to 60 %, is that it shows them: with steps forced it was right on 82 % at the start and is on 60 % at the end, by exact answers on 73 %. The share of paid answers that are exact separates the two majorities better than accuracy does, and a collapse of the majority, as the paper reports it on long runs, is not reached in 24 rounds: it loses 3.8 points more from its best than Co-Reward (−2 to 10).',
};
