/**
 * The claim of Qwen2.5-Math-PRM: labels on which continuations and a judge agree lead to the best detection of first errors, and best-of-N does not
 * show the difference.
 */
import type { ArmResults, Claim, Measure } from '../rule/claim.ts';
import { coinArm, POINTS } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

/** The difference between two arms in a figure, over the last five rounds. */
const above =
  (arm: string, other: string, figure: string): Measure =>
  (results: ArmResults, seed: number) =>
    lately(results, arm, seed, figure) - lately(results, other, seed, figure);

export const claim: Claim = {
  description:
    'A process reward model that is trained on solutions whose first error continuations and a judge place alike finds first errors better than one that is trained on continuations alone, and about as well as one that is trained on all of the judge’s labels. Best-of-N hardly tells them apart.',
  rounds: 12,
  evaluateEvery: 12,
  pictures: { accuracy: 'Held-out accuracy of one answer of the frozen solver' },
  arms: [
    { name: 'qwen-prm', description: 'as published: where both agree' },
    { name: 'monte carlo', variant: 'monte-carlo', description: 'labels by continuations alone' },
    { name: 'judge', variant: 'judge', description: 'labels by the judge alone' },
    coinArm('continuations are right by a coin, and marks are drawn by lot', { seedCount: 8 }),
  ],
  conditions: [
    {
      description: 'F1 of the first error, last five rounds, qwen-prm above monte carlo',
      measure: above('qwen-prm', 'monte carlo', 'firstErrorF1'),
      atLeast: POINTS,
    },
    {
      description: 'F1 of the first error, last five rounds, qwen-prm no lower than judge by more than 0.05',
      measure: above('qwen-prm', 'judge', 'firstErrorF1'),
      atLeast: -POINTS,
    },
    {
      description: 'F1 of the first error, last five rounds, qwen-prm above random',
      measure: above('qwen-prm', 'random', 'firstErrorF1'),
      atLeast: 0.1,
    },
    {
      description: 'best of eight, last five rounds, distance of qwen-prm and monte carlo',
      measure: (r, s) => Math.abs(above('qwen-prm', 'monte carlo', 'bestOfGroup')(r, s)),
      atMost: POINTS,
    },
  ],
  observations: [
    {
      description:
        'first errors found in solutions with the right answer, last five rounds, qwen-prm above monte carlo',
      measure: above('qwen-prm', 'monte carlo', 'luckyFound'),
      atLeast: POINTS,
    },
  ],
  columns: {
    label: 'one sampled answer',
    meaning:
      'The solver stays at version 0, and what stands under greedy is the share of its eight sampled answers to each task that are exact. There is no greedy answer and no other sampled accuracy; what the verifier learns is in the conditions.',
  },
  diagnosis:
    'Nothing can be said about the labels, because no classifier learns to use them in twelve rounds. The labels themselves find the first error: F1 0.74 by continuations and 0.56 by the judge, against 0.01 by a coin. The classifiers find hardly any: F1 0.001 on labels on which both agree, 0.000 on the judge’s, 0.055 on continuations. They are right about 80 to 87 % of single labels, 67 % on continuations, and find at most 2 % of the first errors in solutions with the right answer, as a classifier would that calls nearly every line right; how often they do was not measured. Labels by continuations call more lines wrong and keep every solution, where the consensus keeps 37 %, which may be why they do better by 5 points. The one condition that holds, that consensus is no worse than the judge alone, holds because both are near zero. Best of eight differs by 4 points, within noise. A classifier with weighted classes, or more rounds, would be the next thing to try; this claim stands as registered.',
};
