/** The claim of SwS: new tasks of the kinds that were failed teach more of these kinds than new tasks of any kind. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, endsNoLower, formatArm, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'The first phase fails deep chains, so that new tasks are deep. Deep held-out chains are then answered better than with new tasks of any depth and than without new tasks, and all held-out chains no worse.',
  rounds: 14,
  evaluateEvery: 7,
  quickRounds: 7,
  arms: [
    { name: 'sws', description: 'as published' },
    {
      name: 'random augmentation',
      variant: 'random-augmentation',
      description: 'new tasks are of any depth',
    },
    { name: 'none', variant: 'none', description: 'no new tasks' },
    coinArm('a coin pays answers'),
    formatArm('any well-formed answer is paid'),
  ],
  conditions: [
    {
      description: 'sums of a new task, last five rounds, sws above random augmentation',
      measure: (r, s) => lately(r, 'sws', s, 'madeDepth') - lately(r, 'random augmentation', s, 'madeDepth'),
      atLeast: 1,
    },
    endsAbove('sws', 'random augmentation', 0.02, 'deep'),
    endsAbove('sws', 'none', 0.02, 'deep'),
    endsNoLower('sws', 'none', 0.02),
    rises('sws', 0.05),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [endsAbove('random augmentation', 'none', 0.02, 'deep'), endsAbove('sws', 'none', 0.02)],
  diagnosis:
    'The failed tasks are found and what is made follows them: new tasks have 1.3 sums more than with augmentation at random. What this buys is below the bound: deep chains are answered 0.8 points better than with new tasks of any depth (−0.5 to 2.0) and 1.1 better than without new tasks (−0.4 to 2.7), where 2 were asked. All arms gain 14 to 15 points on deep chains, and greedy accuracy hardly moves, so that the gain is sharpening and not skill. The second phase has eight rounds; whether more of them would part the arms cannot be seen.',
};
