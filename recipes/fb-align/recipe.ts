/** The feedback-alignment study: what the self-teacher should be told of an attempt. */
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { besideCritic } from '../../protocols/critic.ts';
import {
  rewardsAlone,
  TAUGHT_FIGURES,
  taughtAlone,
  taughtAttempts,
} from '../../protocols/privileged-teacher.ts';
import { solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { slowTeacher, TEACHER_RATE, TEACHER_SET } from '../../protocols/teacher-pass.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import { type Context, contextAid, type FeedbackGame } from './contexts.ts';

const VARIANTS = {
  grpo: 'rewards alone: the advantages of GRPO, and no teacher',
  reference: 'the teacher is told the reference solution, whatever the attempt',
  'shuffled-feedback': 'the teacher is told the feedback on an attempt at the next task of the round',
  quoted: 'the feedback ends with the first wrong step as it stands in the attempt, without a correction',
} as const;

const contextOf = (variant: string | undefined): Context =>
  variant === 'reference' || variant === 'quoted' ? variant : 'aligned';

async function learn(game: FeedbackGame, records: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { variant, rewardFunction } = records.round.settings;
  if (variant === 'grpo') return rewardsAlone(records.groups);
  const aidFor = contextAid(game, tools, {
    context: contextOf(variant),
    checked: rewardFunction === 'exact',
  });
  const attempts = taughtAttempts(game, records.groups, tools, aidFor, {
    shuffled: variant === 'shuffled-feedback',
  });
  return taughtAlone(records, tools, attempts, { set: TEACHER_SET, divergence: { kind: 'forward-kl' } });
}

const described = {
  name: 'fb-align',
  title: 'Feedback that follows an attempt step by step',
  paper: arXiv('2606.11173', 'The Role of Feedback Alignment in Self-Distillation'),
  summary:
    'A policy answers. The same policy then reads the answer after a prompt that also shows feedback, and teaches what it would have written to the policy that is asked without it. The feedback repeats the attempt’s right steps and corrects the first wrong one, where other methods show a reference solution.',
  method: {
    setting:
      'A solver answers arithmetic chains. Its start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on. It was taught to read the beginning of a solution, with which it goes on, and a draft, which it hands in unchanged in half of the cases.',
    roles:
      'The solver makes eight attempts at a task. A critic, which is a checker of steps, writes feedback on each: the attempt’s totals word for word up to the first wrong one, and that one corrected; where the last total or the answer is wrong the whole right solution, and an exact attempt is repeated as it is. The teacher is the solver’s moving average, after a prompt that shows the feedback, and writes nothing.',
    rewards:
      'An exact answer earns 1 and any other 0. Rewards teach nothing themselves: they are for the report and for the arm without a teacher.',
    credit: 'Each token of an attempt is compared with what the teacher would have written there.',
    objective:
      'KL(teacher‖policy) between the next-token distributions, over the whole vocabulary, as a mean over tokens. The gradient does not pass through the sampling or the teacher. Attempts that are not well-formed are left out.',
    schedule:
      'Each round goes once over its batch, in four optimiser steps; after it the teacher’s weights move by a twentieth of their distance to the policy’s for each of them.',
  },
  differences: [
    'The paper’s critic is a frozen language model that reads the reference solution; here a checker writes the same feedback exactly.',
    'The paper’s reference solutions are written in another style than the policy’s. Here both have the one form that arithmetic has, so that only the alignment differs, and not the style.',
    'The start policy was taught to trust the beginning of a solution, and to keep a whole one in half of the cases, so that a teacher that is told the reference is less sure of it than one that is told feedback.',
    'How the paper’s teacher follows the policy could not be checked; here it is the slow average of `sdpo`. With the weights of the round as the teacher the policy lost its skill in pilots.',
    'Which of the two directions the paper calls forward KL could not be checked; here it is KL(teacher‖policy), the usual meaning.',
    'Feedback on an attempt whose last total or answer is wrong tells all of the solution, so that it is the reference solution as well.',
  ],
  figures: { ...TAUGHT_FIGURES },
  variants: VARIANTS,
  sets: { ...trainedSolver({ warmup: 8 }), [TEACHER_SET]: slowTeacher(TEACHER_RATE) },
} satisfies Described;

const { quoted: _, ...WITHOUT_STEPS } = VARIANTS;

const written: RecipeOver<'solve' | 'retell' | 'correct'> = {
  needs: { verbs: ['solve', 'retell', 'correct'], alsoSays: ['critique'], data: ['answer', 'solution'] },
  over: (game) => ({
    ...described,
    ...besideCritic(game, solverAlone({ ...game, draws: 2 }), ({ settings }) => {
      const { variant, rewardFunction } = settings;
      return rewardFunction === 'exact' && variant !== 'grpo' && variant !== 'reference';
    }),
    learn: (records, tools) => learn(game, records, tools),
  }),
  elsewhere: {
    variants: WITHOUT_STEPS,
    differences: [
      'The critic is the policy itself, which reads the worked solution of the file; the paper’s is a frozen language model.',
      'An attempt with the right answer is repeated as it is, since nobody checks its steps.',
    ],
  },
  ownReward: 'what the teacher is told of an attempt follows from its reward',
};

export const fbAlign = played(written, aidedSums);
