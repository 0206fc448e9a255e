/** The claim of RewardHarness: a library that evolves on a hundred preferences judges and teaches better than it began, and than random edits make it. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';

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
  gap: {
    figures: ['reward', 'points'],
    meaning:
      'The gap is the reward minus the share of the rubric’s points, in the rounds that train the responder.',
  },
  diagnosis:
    'The library evolves, and who writes the edits makes no difference. Agreement with held-out preferences rises by 16 points (13 to 19) under the gate, to 73 %; under the same gate edits that are drawn at random bring it to 75 % (the difference is −2.4 points, −5.9 to 1.2). Of eight edits a round the gate keeps two, whoever made them, and sixty preferences tell a useful rule from another. Without a gate, and with a coin in place of the preferences, agreement ends at 66 and 63 % on four seeds, which their intervals do not tell from either end. Rewards from the evolved library spare the responder what those of the first library do to it, which pays for long responses and takes 31 points of the rubric: 27 points lie between them (22 to 32). But the evolved library teaches nothing itself: points fall by 3.4 (−9.3 to 2.5), where those of the rubric raise them by 6.6. The rule that prefers long responses stayed in each of the three libraries that were looked at, and the judge is right in 73 % of its verdicts on single rules: rewards end 0.07 above the points that are earned.',
};
