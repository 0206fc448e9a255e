/** Qwen2.5-Math-PRM: a classifier of steps, trained on labels on which continuations and a judge agree. */
import { readTags } from '../../core/recipe/reading.ts';
import { arXiv, type Described, type RecipeOver, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { BEST_OF_N_FIGURES, evaluateBestOfN } from '../../protocols/evaluate/best-of-n.ts';
import { VERIFIER_FIGURES } from '../../protocols/evaluate/verifier.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { JUDGE, OPTIMIZER, solverAndVerifier } from '../../protocols/solver-verifier.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';
import { chainMarks } from '../../worlds/chains/family.ts';
import { familyTasks } from '../../worlds/drawn-tasks.ts';
import { COMPLETER, labelSolutions, rewards } from './labels.ts';
import { learn } from './learn.ts';
import { learnWhole, PRM_SET, WHOLE_VARIANTS } from './whole-answers.ts';

const tasksOf = familyTasks(plainProofs);

const classifier = {
  optimizer: { ...OPTIMIZER, learningRate: 1e-3, minibatches: 8 },
  head: { kind: 'classes', count: 2 },
} as const;

const described = {
  name: 'qwen-prm',
  title: 'A process reward model on steps that continuations and a judge label alike',
  paper: arXiv('2501.07301', 'The Lessons of Developing Process Reward Models in Mathematical Reasoning'),
  summary:
    'A solver that stays as it is writes chains of sums. A step is called wrong where no continuation of it reaches the right answer, and where a judge says so; a solution is kept where both find its first error in the same place. A classifier is trained on the steps of what is kept.',
  method: {
    setting:
      'Tasks are chains of four operators, and their answers are known. A solution has a line for each, and slips in one line of three; whether a line follows from the one before it can be checked exactly, which is used to measure and never to label.',
    roles:
      'The solver writes solutions to each task. The completer, the same weights, continues every prefix of every solution eight times. The judge does the sums of a solution again and marks each line; in the start policy nearly half of its checks copy what they are shown. All three stay at version 0.',
    rewards:
      'Nobody is paid. By continuation the first error of a solution is the first line after which none of the eight reaches the right answer; by the judge it is the first line that it marks. A solution is kept where both say the same, or both say that there is none.',
    credit:
      'Every line of a kept solution up to its first error is an example: the error is labelled 0, the lines before it 1. What comes after an error is left out.',
    objective:
      'Cross-entropy of two classes at the last token of each line. The score of a solution is the product of the probabilities of its lines, and its first error by the model is the first line whose probability is below one half.',
    schedule:
      'Each round labels fresh solutions, asks the model about them, and then makes one pass over those that are kept, in eight optimiser steps.',
  },
  differences: [
    'Rounds on fresh solutions instead of one corpus of half a million; the model is asked about them before it learns from them, which stands in for ProcessBench.',
    'Lines are sums, and the judge is a small policy that often copies; a 72B model in the paper.',
    'The classifier’s head is one linear layer on the trunk; the paper has two.',
    'What the model finds is measured on fresh tasks of the training side, where `learn` asks it.',
    'No format control: by their form all lines of a well-formed solution are right, and no solution has a first error to find.',
  ],
  figures: {
    ...BEST_OF_N_FIGURES,
    firstErrorF1:
      'F1 of the reward model at naming the first wrong line and at passing right solutions, on the round’s solutions before it is trained on them; 0 to 1.',
    monteCarloF1: 'The same F1 of the labels by continuations.',
    judgeF1: 'The same F1 of the labels by the judge.',
    kept: 'Share of the solutions that keep a label.',
    bestOfGroup: 'Share of the groups in which the answer that the reward model finds best is exact.',
    oneOfGroup: 'Share of exact answers: what a random choice from a group would reach.',
    luckyFound:
      'Share of the wrong solutions with an exact answer whose first wrong line the reward model finds.',
  },
} satisfies Described;

const written: RecipeOver<'solve' | 'verify'> = {
  needs: { verbs: ['solve', 'verify'], data: ['answer'] },
  over: ({ family, tasks }) => ({
    ...described,
    ...solverAndVerifier({
      family,
      tasks,
      shape: ({ settings: { groupSize } }) => ({ solutions: groupSize, shown: groupSize, votes: 1 }),
      answers: 8,
    }),
    variants: WHOLE_VARIANTS,
    sets: { main: { optimizer: null }, [PRM_SET]: classifier },
    bindings: () => ({ [SOLVER]: { pinned: true }, [JUDGE]: { pinned: true } }),
    learn: learnWhole,
  }),
  elsewhere: {
    figures: {
      ...VERIFIER_FIGURES,
      kept: described.figures.kept,
      bestOfGroup: described.figures.bestOfGroup,
      oneOfGroup: described.figures.oneOfGroup,
    },
    differences: [
      'A whole solution counts as one step, so that its label is that of its answer: nothing is continued, and the checker stands in the place of continuations.',
      'The judge is the policy itself; a 72B model in the paper.',
      'Rounds on fresh solutions instead of one corpus of half a million; the classifier is asked about them before it learns from them.',
      'The classifier’s head is one linear layer on the trunk; the paper has two.',
    ],
  },
  ownReward: 'its classifier is taught what is right and wrong, and nobody is paid',
};

/** Chains of sums, in which continuations and a judge label every line. */
export const qwenPrm: WithoutSetup = {
  ...described,
  written,
  taskName: 'chains',
  stop: plainProofs.stop,
  rewards,
  variants: {
    'monte-carlo': 'labels by continuations alone; every solution is kept',
    judge: 'labels by the judge alone; every solution is kept whose judgment parses',
  },
  sets: { main: classifier },
  roles: {
    [SOLVER]: role('writes solutions, frozen', plainProofs.maxNew.solver),
    [COMPLETER]: role('continues every prefix of a solution, frozen', plainProofs.maxNew.solver, {
      speaksAs: SOLVER,
    }),
    [JUDGE]: role('marks every line of a solution, frozen', plainProofs.maxNew.judge),
  },
  bindings: () => ({ [SOLVER]: { pinned: true }, [COMPLETER]: { pinned: true }, [JUDGE]: { pinned: true } }),
  propose: async (context) => tasksOf(context),
  rollOut: (context, tasks) => rollOut({ family: plainProofs }, context, tasks),
  judge: labelSolutions,
  learn,
  evaluate: (context) => evaluateBestOfN(context, { family: plainProofs, solver: SOLVER, tasks: 100, n: 8 }),
  describe: {
    difficulty: (task) => plainProofs.difficulty(task),
    parts: (role, text) => (role === JUDGE ? chainMarks : readTags)(text),
  },
};
