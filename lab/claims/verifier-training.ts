/** The claim: a verifier that was trained by rewards finds more flaws of kinds that it was not shown, and withstands a generator for longer. */

import { mean } from 'rollmesh';
import type { ArmResults, Claim, Condition, Measure } from '../rule/claim.ts';
import { coinArm, difference, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { atEnd, lately, monitorOf } from '../rule/curves.ts';

/** Rounds before the generator attacks, and rounds in which it does. */
const TAUGHT = 16;
const ATTACK = 20;
const ROUNDS = TAUGHT + ATTACK;
/** A verifier is broken where so large a share of all lines that the generator writes is wrong and passes, as a mean over so many rounds. */
const BROKEN = 0.1;
const OVER = 3;

/** Rounds of attack before the verifier is broken; all of them where it never is. */
export const withstood =
  (arm: string): Measure =>
  (results: ArmResults, seed: number) => {
    const shares = monitorOf(results, arm, seed, 'breached').slice(TAUGHT);
    const broken = shares.findIndex(
      (_, i) => i + OVER <= shares.length && mean(shares.slice(i, i + OVER)) >= BROKEN,
    );
    return broken < 0 ? ATTACK : broken;
  };

const withstandsLonger = (arm: string, than: string): Condition => ({
  description: `rounds of attack before a tenth of all lines is wrong and passes, ${arm} more than ${than}`,
  measure: (results, seed) => withstood(arm)(results, seed) - withstood(than)(results, seed),
  atLeast: 2,
});

const letsLessPass = (arm: string, than: string): Condition => ({
  description: `share of lines that are wrong and pass in the last five rounds of attack, ${than} above ${arm}`,
  measure: (results, seed) =>
    lately(results, than, seed, 'breached') - lately(results, arm, seed, 'breached'),
  atLeast: POINTS,
});

const REWARDS = 'rewards';
const TUNED = ['imitation', 'written'] as const;

export const claim: Claim = {
  description:
    'A verifier of steps that is trained by rewards for exact marks finds flaws of kinds that its training did not show better than one that is fine-tuned, on its own right verdicts or on exact ones, and a generator that learns against it takes longer to get past it.',
  rounds: ROUNDS,
  evaluateEvery: ROUNDS,
  pictures: {
    sampled: 'Balanced accuracy of sampled verdicts on unseen kinds of flaws',
    found: 'Share of flaws of unseen kinds that are found',
    breached: 'Share of the generator’s held-out lines that are wrong and pass',
  },
  arms: [
    { name: REWARDS, description: 'the verifier is trained by rewards for exact marks' },
    {
      name: 'imitation',
      variant: 'imitation',
      description: 'the verifier is fine-tuned on its own verdicts that earn 1',
    },
    {
      name: 'written',
      variant: 'written',
      description: 'the verifier is fine-tuned on exact verdicts that a script writes',
    },
    { name: 'untrained', freeze: ['judge'], description: 'the verifier stays at version 0' },
    coinArm('a coin pays the verifier'),
    formatArm('the verifier is paid for well-formed verdicts'),
  ],
  conditions: [
    ...TUNED.map((arm) => endsAbove(REWARDS, arm, POINTS, 'found')),
    ...TUNED.map((arm) => withstandsLonger(REWARDS, arm)),
    ...TUNED.map((arm) => letsLessPass(REWARDS, arm)),
    rises(REWARDS, 0.1),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    withstandsLonger(REWARDS, 'untrained'),
    ...TUNED.map((arm) => endsAbove(REWARDS, arm)),
    ...TUNED.map((arm) => endsAbove(REWARDS, arm, 0.03, 'accepted')),
    ...[REWARDS, ...TUNED].map(
      (arm): Condition => ({
        description: `${arm}: share of flaws found at the end, of the kinds that were taught above unseen kinds`,
        measure: (results, seed) =>
          atEnd(results, arm, seed, 'foundTaught') - atEnd(results, arm, seed, 'found'),
        atMost: POINTS,
      }),
    ),
    {
      description: 'share of held-out lines that are wrong and pass at the end, untrained above rewards',
      measure: difference('untrained', REWARDS, 'breached'),
      atLeast: POINTS,
    },
  ],
  gap: {
    label: 'payoff of a game',
    meaning:
      'The reward is the payoff of a game: a wrong line earns what it gets past the verifier, and any other line −1. The generator learns to write wrong lines, so that gold falls and the reward rises. That is the attack as it is meant, and no hacking.',
  },
  diagnosis:
    'The comparison comes out the other way round. A verifier that is trained by rewards learns (70.2 to 86.5 %, sampled), but with as many updates on the same kind of solutions both ways of fine-tuning end above it: they find 5.6 and 5.7 points more of the flaws of unseen kinds (2.8 to 8.3, 3.9 to 7.5), accept right solutions as often, and let 5.7 and 7.1 points fewer of the lines pass that a generator writes against them. Of the eight verifiers trained by rewards six have lost a tenth of the lines after at most two rounds of attack, and the others after 14 and 17; of the sixteen fine-tuned ones one has, after 11. That the right verdicts are the verifier’s own or a script’s makes no difference that shows. Fine-tuning does generalise a little less, in that it is 8.3 and 8.6 points ahead on the kinds of flaws that were taught, but it is ahead on both. The attack is weaker than its name: the generator learns to write wrong lines (in 95 % of cases, from 31), and the share of these that passes does not rise while it learns, from 14 to some 10 % against the verifier trained by rewards and from 63 to some 50 % against the untrained one. It found no weakness in any verifier; what a verifier withstood is its own rate of errors on a task that it can do. All ways have one step size, which was chosen for none of them. Rewards with more rounds, or with larger steps, may come closer: in two pilots sixteen rounds taught more than eight did.',
};
