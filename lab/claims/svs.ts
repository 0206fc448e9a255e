/** The claim of SvS: variations keep a policy from narrowing, at no cost to single answers. */
import type { ArmResults, Claim } from '../rule/claim.ts';
import {
  coinArm,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

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
  diagnosis:
    'For as many updates variations cost more than they teach. SvS ends 9.9 points of sampled accuracy below RLVR (8.0 to 11.9) and finds an exact answer among eight for 3.6 points fewer tasks (2.4 to 4.8), although it generates nearly four times the tokens. It keeps 0.03 nats more entropy and its greedy accuracy, where RLVR loses 2.8 points of that: it has sharpened less. More entropy buys no diversity here, since a slip is a matter of each step, and what makes one answer right more often makes one of eight right more often. The labels do matter: with drawn answers sampled accuracy ends 4.0 points lower (2.9 to 5.0) and Pass@8 4.7. But more than a third of the valid variations do not have the answer that they are labelled with, the answers to them are seldom paid, and the writer’s part of the loss weighs as much as all answers together; how much of the distance each of these makes was not measured. Without the upper band variations become no easier, as few are answered so often that the band would refuse them.',
};
