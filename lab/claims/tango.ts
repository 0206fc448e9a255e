/**
 * The claim of Tango: it needs fewer updates than outcome rewards alone, its verifier learns to mark steps without labels of steps, and a frozen
 * verifier overrates them.
 */

import { mean } from 'rollmesh';
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { monitorOf } from '../rule/curves.ts';
import { speed } from '../rule/speed.ts';

/** Evaluations during the rounds that train the verifier alone. */
const ALONE = 3;

/** By how much the verifier overrates the steps: what it pays for them minus what they deserve. Rounds without verdicts do not count. */
const overrated =
  (arm: string): Measure =>
  (results, seed) =>
    mean(
      monitorOf(results, arm, seed, 'approvalGap')
        .slice(-8)
        .filter((gap) => !Number.isNaN(gap)),
    );
const moreThanTango =
  (arm: string): Measure =>
  (results, seed) =>
    overrated(arm)(results, seed) - overrated('tango')(results, seed);

export const claim: Claim = {
  description:
    'Step rewards of a verifier that is trained beside the generator make it learn in fewer updates than outcomes alone, and more than with a frozen verifier. The verifier gets better at finding wrong steps although only its final verdict is graded. Frozen, it overrates the steps.',
  rounds: 24,
  // The first twelve rounds train the verifier alone.
  quickRounds: 13,
  evaluateEvery: 4,
  pictures: {
    sampled: 'Held-out accuracy, sampled at temperature 1',
    stepF1: 'F1 of wrong steps on a fixed set',
  },
  arms: [
    {
      name: 'tango',
      description:
        'as published: the verifier trained, α from .1 towards .001, of which 9 of 48 updates are played',
    },
    { name: 'outcome', variant: 'outcome', description: 'GRPO on outcomes alone' },
    { name: 'frozen', freeze: ['judge'], description: 'tango with the verifier at version 0' },
    {
      name: 'constant frozen',
      variant: 'constant',
      freeze: ['judge'],
      description: 'α stays at .5, the verifier at version 0',
    },
    coinArm('a coin says what is right, for both'),
    formatArm('any well-formed answer is right, for both'),
  ],
  partners: [{ partner: 'verifier', trained: 'tango', frozen: 'frozen' }],
  conditions: [
    {
      description:
        'tango: generator updates to nine tenths of what outcomes alone gain, as a share of theirs',
      measure: (r, s) => speed(r, 'tango', 'outcome', s, ALONE),
      atMost: 0.7,
    },
    rises('tango', POINTS),
    endsAbove('tango', 'frozen'),
    { ...rises('tango', 0.03, 'stepF1'), description: 'tango: F1 of wrong steps on a fixed set rises' },
    {
      ...doesNotRise('random', 0.03, 'stepF1'),
      description: 'random: F1 of wrong steps on a fixed set has not risen at the end',
    },
    {
      description: 'by how much the verifier overrates steps, last eight rounds, frozen above tango',
      measure: moreThanTango('frozen'),
      atLeast: 0.05,
    },
    {
      description: 'by how much the verifier overrates steps, last eight rounds, constant frozen above tango',
      measure: moreThanTango('constant frozen'),
      atLeast: 0.05,
    },
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    {
      description:
        'generator updates to that gain, as a share of those of outcomes alone, frozen above tango',
      measure: (r, s) => speed(r, 'frozen', 'outcome', s, ALONE) - speed(r, 'tango', 'outcome', s, ALONE),
      atLeast: 0.1,
    },
  ],
  diagnosis:
    'Eight of nine conditions hold, on each of eight seeds. On chains of eight operators, of which the start gets 8 % right, step rewards reach nine tenths of what outcomes alone gain in 0.51 of their updates (0.43 to 0.60), and end at 36.3 % of sampled answers right where those end at 20.7 %. What does not hold is that the verifier has to be trained for this: frozen at version 0 it leads to 35.1 %, 1.2 points less (1.7 more to 4.0 less), and to the same gain in 0.55 of the updates. Any marks with some skill do. What training the verifier does change is what it says: its F1 on wrong steps rises from 41 to 79, in part because its start was taught to copy 45 % of its checks, a habit that training drops, and it overrates steps by 0.10 less than the frozen one late in the run. The frozen one is not hacked all the same, since it overrates less as the generator learns. Skill rises, too: greedy accuracy gains 4.6 points with tango, 4.9 with the frozen verifier and 2.0 (2.1 less to 6.1 more) with outcomes alone. All of this is counted in updates: with its verifier tango generates and trains 3.7 times the tokens of outcomes alone, and 2.7 times those of a frozen verifier.',
};
