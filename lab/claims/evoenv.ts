/** The claim of EvoEnv: a policy that is trained on environments of its own solves more of unseen ones than one that stays with the given ones. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'A policy that writes environments and is trained on those that the layers admit solves more instances of held-out environments than one that is trained on the given ten alone, and than one whose pool near-copies may join. What it writes stays at the edge of what it can do, and without the novelty layer the pool fills with near-copies.',
  rounds: 16,
  evaluateEvery: 16,
  arms: [
    { name: 'evoenv', description: 'as published' },
    {
      name: 'fixed pool',
      variant: 'fixed-pool',
      description: 'all attempts are at the ten environments that are given',
    },
    {
      name: 'no novelty',
      variant: 'no-novelty',
      description: 'near-copies and repetitions are admitted',
    },
    {
      name: 'frozen proposer',
      freeze: ['proposer'],
      seedCount: 4,
      description: 'the proposer stays at version 0',
    },
    coinArm('a coin says which well-formed answers are right'),
    formatArm('any well-formed answer is right'),
  ],
  partners: [{ partner: 'proposer', trained: 'evoenv', frozen: 'frozen proposer' }],
  conditions: [
    endsAbove('evoenv', 'fixed pool'),
    endsAbove('evoenv', 'no novelty'),
    rises('evoenv', POINTS),
    {
      description:
        'evoenv: share of tried environments that are neither always nor never solved, last five rounds',
      measure: (r, s) => lately(r, 'evoenv', s, 'interior'),
      atLeast: 0.5,
    },
    {
      description:
        'known environments whose references differ in more than digits at the end, evoenv above no novelty',
      measure: (r, s) => lately(r, 'evoenv', s, 'different', 1) - lately(r, 'no novelty', s, 'different', 1),
      atLeast: 5,
    },
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('evoenv', 'frozen proposer'),
    {
      description:
        'evoenv: share of sound environments, last five rounds, among those that reviews let pass above all that were tried',
      measure: (r, s) => lately(r, 'evoenv', s, 'approvedSound') - lately(r, 'evoenv', s, 'sound'),
      atLeast: POINTS,
    },
  ],
  diagnosis:
    'The layers build the pool that they are meant to build, and it teaches no more than the ten environments that are given. Sampled accuracy rises by 10.4 points with environments of the policy’s own, by 9.7 with the given ten alone and by 9.5 where near-copies may join: differences of 0.7 (−1.4 to 2.7) and 0.9 (−1.5 to 3.2), where five were asked. Greedy accuracy rises in no arm, so that the policy is sharpened and no skill gained; with environments of its own it loses 2.8 points less than with the fixed pool, which cannot be told from chance (−0.9 to 6.4). Without the novelty layer the pool does fill with near-copies: 26 of the known environments differ in more than digits, instead of 50. What is tried stays where some attempts are right and others are not (58 %). Reviews are strict and right: they refuse one environment in five, also sound ones, and all that they let pass in the last five rounds were sound, as were 92 % of those that were tried. Two reasons are likely and none is tested by an arm: an environment gives new instances in every round, so that ten of them are many tasks; and what the start lacks is care, which the simplest references teach as well as longer ones.',
};
