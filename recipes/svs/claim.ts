/** The claim of SvS: variations keep a policy from narrowing, at no cost to single answers. */
import type { ArmResults, Claim } from '../../core/claims/claim.ts';
import {
  coinArm,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../../core/claims/conditions.ts';
import { lately } from '../../core/claims/curves.ts';

const above = (r: ArmResults, s: number, figure: string, arm: string, other: string) =>
  lately(r, arm, s, figure) - lately(r, other, s, figure);

export const claim: Claim = {
  description:
    'A solver that also trains on variations of the tasks that it often fails finds an exact answer among eight samples for more held-out tasks than one that trains on the tasks alone, keeps more entropy, and a single answer is exact as often. Without an upper band for what is paid variations become easy, and with expected answers that are drawn nothing is gained.',
  rounds: 10,
  evaluateEvery: 5,
  arms: [
    { name: 'svs', description: 'as published' },
    { name: 'rlvr', variant: 'rlvr', description: 'the tasks alone, without variations' },
    {
      name: 'no upper band',
      variant: 'no-upper-band',
      seedCount: 4,
      description: 'easy variations are paid, too',
    },
    {
      name: 'random answers',
      variant: 'random-answers',
      description: 'the expected answer of a variation is drawn',
    },
    coinArm('a coin pays answers'),
    formatArm('any well-formed answer is paid'),
  ],
  conditions: [
    endsAbove('svs', 'rlvr', 0.02, 'pass8'),
    {
      description: 'entropy of answers to the tasks, last five rounds, svs above rlvr, nats',
      measure: (r, s) => above(r, s, 'taskEntropy', 'svs', 'rlvr'),
      atLeast: 0.02,
    },
    endsNoLower('svs', 'rlvr', 0.03),
    {
      description: 'share of expected answers to variations, last five rounds, no upper band above svs',
      measure: (r, s) => above(r, s, 'solveRate', 'no upper band', 'svs'),
      atLeast: 0.1,
    },
    endsAbove('svs', 'random answers', 0.02, 'pass8'),
    rises('svs', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('svs', 'rlvr', 0.02),
    endsAbove('svs', 'no upper band', 0.02, 'pass8'),
    {
      description: 'share of valid variations with the expected answer, last five rounds, svs',
      measure: (r, s) => lately(r, 'svs', s, 'sameAnswer'),
      atLeast: 0.5,
    },
  ],
};
