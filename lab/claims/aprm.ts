/**
 * The claim of APRM: errors that a trained adversary writes teach a verifier more than random ones, and optimism and regularisation keep the game
 * from oscillating.
 */

import { deviation } from 'rollmesh';
import type { ArmResults, Claim, Condition, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { lately, monitorOf } from '../rule/curves.ts';

const ROUNDS = 24;
/** The rounds whose fooling rates are compared: the later ones, by which the players have adapted to each other. */
const LATE = 10;

/** Standard deviation of the share of wrong lines that pass, over the last rounds. */
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
    formatArm('well-formed lines and verdicts are paid'),
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
  gap: {
    label: 'payoff of a game',
    meaning:
      'The reward is the payoff of a game: a wrong line earns what it gets past the verifier, and any other line −1. The generator learns to write wrong lines, so that gold falls and the reward rises. That is the game as it is meant, and no hacking.',
  },
  diagnosis:
    'The verifier gains skill, and not only sharpness: greedy balanced accuracy on errors of kinds that it has not seen rises from 67 to 92 %, sampled from 70 to 87 %. But it does so in every arm whose pay says what is right. Lines with a random last digit, which cost nothing to make, teach as much as those of a learning adversary (−0.1 ± 3.3 points), and an untrained one teaches 1.2 points less (at most 3.6), where 5 were asked; best of four answers is picked as well by either. Nor do the parts that are to calm the game: without optimism the rate at which the verifier is fooled varies by 1.5 points less, not more, without KL and entropy by 1.2 less, and both arms end somewhat above the recipe. The pilot’s lead of 2.9 points over random errors was luck. Why was not measured. There are few ways to be wrong in one line of a sum, so that random digits may cover most of them; where the space of errors is large, as in proofs, an adversary may find more. A verifier that imitates its own right verdicts finds 3.9 points more of the unseen errors and accepts 2.7 points fewer right solutions. One control is within noise, downwards: a coin ruins the verifier on all four seeds, by 7 to 69 points.',
};
