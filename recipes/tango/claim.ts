/** Tango's claim: it learns in fewer updates than outcomes alone, its verifier learns to mark steps that nobody grades, and a frozen verifier overrates them. */
import type { Claim, Measure } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { monitorOf } from '../../core/claims/curves.ts';
import { speed } from '../../core/claims/speed.ts';
import { mean } from '../../core/rl/statistics.ts';

/** Evaluations while the verifier learns alone. */
const ALONE = 3;

/** By how much the verifier overrates the steps: what is paid for them less what they earn. Rounds in which it rests say nothing. */
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

export const tangoClaim: Claim = {
  description:
    'Step rewards of a verifier that is trained beside the generator make it learn in fewer updates than outcomes alone, and more than with a frozen verifier. The verifier gets better at finding wrong steps although only its final verdict is graded. Frozen, it overrates the steps.',
  rounds: 24,
  // The verifier learns alone for twelve.
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
    'Tango takes 0.67, 0.53 and 0.59 of the updates of outcomes alone, on chains of eight operators of which the start gets 8 % right; where half of the answers are right at the start it took as many as outcomes alone. Most of this any marks with some skill are worth: with a frozen verifier it takes 0.80, 0.55 and 0.68. Training the verifier adds 2 to 5 points of sampled accuracy over freezing it, which is below the bound. The frozen verifier overrates steps by 0.13 late, the trained one by 0.04; but this falls as the generator learns, so that even at weight 0.5 the frozen verifier is not hacked. The verifier’s F1 on a fixed set rises in part because its start was taught to copy 45 % of its checks, a habit that training drops. Its final verdict must follow from its marks, so that the graded outcome says whether all marks are right. Greedy accuracy ends level with outcomes alone (0.92).',
};
