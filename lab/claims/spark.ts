/** The claim of SPARK: labels by many verdicts train a verifier that is good enough to train a solver without any reference answers. */
import type { ArmResults, Claim, Measure } from '../rule/claim.ts';
import {
  coinArm,
  doesNotRise,
  endsAbove,
  endsNoLower,
  formatArm,
  POINTS,
  rises,
} from '../rule/conditions.ts';
import { early, lately } from '../rule/curves.ts';

/** The rounds in which labels are made. */
const LABEL_ROUNDS = 6;

const labelsAbove =
  (arm: string, other: string): Measure =>
  (results: ArmResults, seed: number) =>
    early(results, arm, seed, 'labelAccuracy', LABEL_ROUNDS) -
    early(results, other, seed, 'labelAccuracy', LABEL_ROUNDS);

export const claim: Claim = {
  description:
    'Labels of lines on which a majority of 16 verdicts agrees are better than single verdicts, and train a better verifier. By that verifier’s verdicts alone a solver learns as much as from exact answers, as long as only solutions in form are paid.',
  rounds: 24,
  quickRounds: 7,
  evaluateEvery: 24,
  pictures: {
    sampled: 'Held-out accuracy of sampled solutions',
    stepF1: 'F1 of wrong lines, greedy verdicts on fixed solutions',
  },
  arms: [
    { name: 'spark', description: 'as published' },
    { name: 'single', variant: 'single', description: 'labels are single verdicts' },
    {
      name: 'outcome votes',
      variant: 'outcome',
      description: 'the majority of verdicts on the whole is the label; lines have no vote',
    },
    {
      name: 'untrained verifier',
      freeze: ['judge'],
      description: 'the verifier stays at version 0, and the solver learns from it',
    },
    { name: 'no gate', variant: 'no-gate', description: 'solutions of any number of lines are paid' },
    {
      name: 'step augmented',
      variant: 'step-augmented',
      description: 'the share of lines that are called right is paid, too',
    },
    { name: 'gold', reward: 'gold', description: 'upper bound: exact answers pay the solver' },
    coinArm('a coin pays the solver'),
    formatArm('well-formed solutions are paid'),
  ],
  partners: [{ partner: 'verifier', trained: 'spark', frozen: 'untrained verifier' }],
  conditions: [
    {
      description: 'balanced accuracy of the labels of lines, spark above single',
      measure: labelsAbove('spark', 'single'),
      atLeast: POINTS,
    },
    endsAbove('spark', 'single', POINTS, 'stepF1'),
    endsAbove('spark', 'untrained verifier', POINTS, 'stepF1'),
    endsAbove('spark', 'untrained verifier'),
    endsNoLower('spark', 'gold', POINTS),
    {
      description: 'share of solutions with another number of lines, last five rounds, no gate above spark',
      measure: (r, s) => lately(r, 'no gate', s, 'misshapen') - lately(r, 'spark', s, 'misshapen'),
      atLeast: 0.1,
    },
    rises('spark', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('spark', 'outcome votes', POINTS, 'stepF1'),
    endsAbove('spark', 'single'),
    endsAbove('spark', 'step augmented'),
    endsAbove('spark', 'no gate'),
  ],
  diagnosis:
    'The solver learns to sample what it could do greedily before: sampled accuracy rises from 24 to 67 %, greedy accuracy falls from 100 to 81 %. That takes no trained verifier. One that stays at version 0 pays better (74 %), exact answers far better (84 %), and a verifier trained on single verdicts, on votes on the whole solution or on majorities does not differ by what eight seeds can tell. Majorities of sixteen verdicts label lines 2.6 points better than single ones (0.3 to 4.8), half of what was asked, and the verifiers that learn from them differ more between seeds than between arms (F1 of wrong lines 0.45 to 0.61 in the main arm, 0.34 to 0.66 with single verdicts). So the first link of the chain is weak and the second is lost in noise: a majority repeats what the verifier mostly believes. The gate against solutions of other lengths is not tested, as nobody learns to leave lines out. A next attempt would have to begin with a verifier whose errors are independent from sample to sample.',
};
