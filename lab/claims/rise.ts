/** The claim of RISE: verification becomes much better, solving does not suffer, and verdicts improve a vote. */
import type { Claim, Measure } from '../rule/claim.ts';
import {
  coinArm,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../rule/conditions.ts';
import { atEnd } from '../rule/curves.ts';

const VERIFICATION = 'verification';

/** How much the verdicts add to a vote at the end. */
const gain =
  (arm: string): Measure =>
  (results, seed) =>
    atEnd(results, arm, seed, 'weightedVote') - atEnd(results, arm, seed, 'vote');

export const claim: Claim = {
  description:
    'A policy that is paid for verifying its own fresh solutions beside solving verifies much better, solves no worse than one that only solves, and its verdicts improve a vote over its answers.',
  rounds: 12,
  evaluateEvery: 6,
  pictures: {
    sampled: 'Held-out accuracy, sampled at temperature 1',
    verification: 'Balanced accuracy of verdicts on a fixed set',
  },
  arms: [
    { name: 'rise', description: 'as published: solutions and verdicts are paid by the exact checker' },
    { name: 'solver only', freeze: ['judge'], description: 'the same PPO without verdicts' },
    coinArm('a coin says what is right, for both', { seedCount: 8 }),
    formatArm('every well-formed solution is right, for both', { seedCount: 8 }),
  ],
  partners: [{ partner: 'verifier', trained: 'rise', frozen: 'solver only' }],
  conditions: [
    rises('rise', POINTS, VERIFICATION),
    endsAbove('rise', 'solver only', POINTS, VERIFICATION),
    rises('rise', POINTS),
    endsNoLower('rise', 'solver only', 0.03),
    {
      description: 'rise: what verdicts add to a vote over eight answers at the end',
      measure: gain('rise'),
      atLeast: 0.01,
    },
    doesNotRise('random', 0.03, VERIFICATION),
    doesNotRise('random'),
    doesNotRise('format', 0.03, VERIFICATION),
  ],
  diagnosis:
    'Verification rises by 7 points (6 to 8), only where verdicts are trained, and solving is no worse for it (−0.3 points, −2.3 to 1.7). All these conditions hold on eight seeds; on three they were within noise. What fails is the use of the verdicts: they make a vote over eight answers 3 points worse. A verifier that is right two times in three throws out too many right answers where the most frequent answer is mostly right already. Greedy accuracy falls by 5 points, and by 6 in the arm without verdicts, so that what is learned about solving is sharper sampling.',
};
