/** The claim of APRM: errors by a trained adversary teach a verifier more than random ones, and optimism and regularisation calm the game. */
import type { ArmResults, Claim, Condition, Measure } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { lately, monitorOf } from '../../core/claims/curves.ts';
import { deviation } from '../../core/rl/statistics.ts';

const ROUNDS = 24;
/** Rounds whose fooling rates are compared: those after the players have found each other. */
const LATE = 10;

/** Deviation of the share of wrong lines that pass, over the last rounds. */
const unrest =
  (arm: string): Measure =>
  (results: ArmResults, seed: number) =>
    deviation(monitorOf(results, arm, seed, 'fooled').slice(-LATE), 1);

const calmer = (than: string): Condition => ({
  description: `deviation of the fooling rate over the last ${LATE} rounds, ${than} above aprm`,
  measure: (results, seed) => unrest(than)(results, seed) - unrest('aprm')(results, seed),
  atLeast: 0.01,
});

export const claim: Claim = {
  description:
    'A verifier of steps that is trained against a generator which learns to write wrong steps that pass finds kinds of errors that it has not seen better than one that is trained on random errors, or on those of a generator that does not learn. With KL and entropy in both utilities and optimistic steps the rate at which the generator fools it settles.',
  rounds: ROUNDS,
  evaluateEvery: ROUNDS,
  pictures: {
    sampled: 'Balanced accuracy of sampled verdicts on unseen errors',
    found: 'Share of unseen errors that are found',
  },
  arms: [
    { name: 'aprm', description: 'as published' },
    {
      name: 'static',
      variant: 'static',
      description: 'the verifier is shown lines whose last digit is random; nobody learns to corrupt',
    },
    {
      name: 'frozen generator',
      freeze: ['generator'],
      description: 'the generator stays at version 0, whose slips are those of a careless solver',
    },
    { name: 'no optimism', variant: 'no-optimism', description: 'plain AdamW for both players' },
    {
      name: 'unregularised',
      variant: 'unregularised',
      description: 'neither KL nor entropy in either utility',
    },
    {
      name: 'imitation',
      variant: 'imitation',
      description: 'the verifier is fine-tuned on its verdicts that earn 1 instead of being reinforced',
    },
    coinArm('a coin pays both players'),
    formatArm('lines and verdicts in form are paid'),
  ],
  partners: [{ partner: 'generator', trained: 'aprm', frozen: 'frozen generator' }],
  conditions: [
    endsAbove('aprm', 'static'),
    endsAbove('aprm', 'frozen generator'),
    calmer('no optimism'),
    calmer('unregularised'),
    rises('aprm', 0.1),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('aprm', 'imitation', POINTS, 'found'),
    {
      description: 'rate at which the generator fools the verifier, last five rounds, imitation above aprm',
      measure: (r, s) => lately(r, 'imitation', s, 'fooled') - lately(r, 'aprm', s, 'fooled'),
      atLeast: POINTS,
    },
    endsAbove('aprm', 'static', POINTS, 'bestOfFour'),
    endsAbove('aprm', 'no optimism'),
    endsAbove('aprm', 'unregularised'),
  ],
};
