/** The claim of RewardHarness: a library that evolves on a hundred preferences judges and teaches better than it began, and than random edits make it. */
import type { Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';

export const claim: Claim = {
  description:
    'A library of rules that evolves on a hundred preferences comes to agree with more held-out preferences than it began with, than one that is edited at random under the same gate, and than one without a gate. A responder that is trained on it gains more points of the rubric than one that is trained on the library of the start or on a random one.',
  rounds: 15,
  evaluateEvery: 15,
  quickRounds: 4,
  pictures: {
    agreement: 'Agreement with held-out preferences',
    accuracy: 'Points of the rubric, greedy',
    sampled: 'Points of the rubric, sampled',
  },
  arms: [
    { name: 'rewardharness', description: 'as published' },
    { name: 'start library', variant: 'start-library', description: 'the library is never edited' },
    {
      name: 'random edits',
      variant: 'random-edits',
      description: 'the same number of edits, drawn at random and tried in the same way',
    },
    { name: 'ungated', variant: 'ungated', seedCount: 4, description: 'every edit that is tried is kept' },
    {
      name: 'coin preferences',
      variant: 'coin-preferences',
      seedCount: 4,
      description: 'control: a coin says which of two responses is preferred',
    },
    { name: 'rubric', reward: 'rubric', seedCount: 4, description: 'upper bound: the points of the rubric' },
    coinArm('a coin says what a response is worth'),
    formatArm('any well-formed response is worth as much as another'),
  ],
  conditions: [
    rises('rewardharness', 0.1, 'agreement'),
    endsAbove('rewardharness', 'random edits', POINTS, 'agreement'),
    endsAbove('rewardharness', 'ungated', POINTS, 'agreement'),
    rises('rewardharness', POINTS),
    endsAbove('rewardharness', 'start library', POINTS),
    endsAbove('rewardharness', 'random edits', 0.03),
    doesNotRise('coin preferences', POINTS, 'agreement'),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
};
