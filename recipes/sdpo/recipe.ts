/**
 * SDPO: the policy reads how an attempt went, and by that teaches itself for prompts without this information. The method is described below, as
 * data.
 */

import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { exactReward, formatReward, randomReward } from '../../protocols/answer-rewards.ts';
import { onQuestions, type QuestionGame, type RecipeOnQuestions } from '../../protocols/questions/game.ts';
import { SIBLINGS_ALONE, taughtAnswers, taughtSolver } from '../../protocols/questions/taught-answers.ts';
import { solverAlone, trainedSolver } from '../../protocols/solver.ts';
import {
  rewardsAlone,
  siblingOrFeedback,
  TAUGHT_FIGURES,
  type TaughtAttempt,
  type Told,
  taughtAlone,
  taughtAttempts,
} from '../../protocols/taught-attempts.ts';
import { slowTeacher, TEACHER_RATE, TEACHER_SET } from '../../protocols/teacher-pass.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';

const rewards = { exact: exactReward, format: formatReward, random: randomReward };

const VARIANTS = {
  grpo: 'rewards alone: the advantages of GRPO, and no teacher',
  sibling: 'the teacher is told right solutions of siblings, and no feedback',
  feedback: 'the teacher is told feedback, and no solutions of siblings',
  'no-average': 'the teacher has the weights that the round trains from',
  'shuffled-feedback': 'the teacher is told what belongs to the next task of the round',
} as const;

const toldIn = (variant: string | undefined): Told =>
  variant === 'sibling' || variant === 'feedback' ? variant : 'both';

/** `attemptsOf`: the attempts whose teachers have something to read. `shuffled`: each teacher reads what belongs to the next group's task. */
type AttemptsOf = (
  records: Pick<RoundRecords, 'groups' | 'round'>,
  tools: LearnTools,
  shuffled: boolean,
) => TaughtAttempt[];

async function planTraining(
  attemptsOf: AttemptsOf,
  records: RoundRecords,
  tools: LearnTools,
): Promise<TrainingPlan> {
  const { variant } = records.round.settings;
  if (variant === 'grpo') return rewardsAlone(records.groups);
  return taughtAlone(records, tools, attemptsOf(records, tools, variant === 'shuffled-feedback'), {
    set: variant === 'no-average' ? MAIN_SET : TEACHER_SET,
    divergence: { kind: 'jensen-shannon', beta: 0.5 },
  });
}

const chainAttempts: AttemptsOf = ({ groups, round }, tools, shuffled) => {
  const { variant, rewardFunction } = round.settings;
  const aidFor = siblingOrFeedback(tools, { told: toldIn(variant), checked: rewardFunction === 'exact' });
  return taughtAttempts(groups, tools, aidFor, { shuffled });
};

/** Differences from the paper that hold whatever is answered. */
const ENGINE_DIFFERENCES = [
  'The teacher moves once a round, by as much as it would in four steps after which the policy stood where it stands at the end; the paper moves it after each.',
  'Divergences are taken over the whole vocabulary; the paper takes the policy’s 20 or 100 likeliest and counts the rest as one.',
  'A token’s loss is not multiplied by its clipped importance ratio: a round’s samples are of the version that it trains from, and it makes four steps.',
];

export const sdpo: Recipe = {
  name: 'sdpo',
  title: 'A policy that is told how it went teaches itself',
  paper: {
    title: 'Reinforcement Learning via Self-Distillation',
    year: 2026,
    source: 'arXiv:2601.20802',
  },
  summary:
    'A policy answers. The same policy then reads the answer after a prompt that also shows a sibling’s right solution, or the checker’s feedback, and what it would have written at each token is taught to the policy that is asked without them.',
  method: {
    setting:
      'A solver answers arithmetic chains. Its start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on. It was taught to read the beginning of a solution, with which it goes on, and a draft, which it hands in unchanged in half of the cases.',
    roles:
      'The solver makes eight attempts at a task. The teacher is the solver’s moving average, and writes nothing: its prompt shows the first right solution by a sibling, and where no sibling is right the feedback of a checker of steps, which are the right totals up to the first wrong one, corrected.',
    rewards:
      'An exact answer earns 1 and any other 0. Rewards say which siblings are right, and teach nothing themselves.',
    credit: 'Each token of an attempt is compared with what the teacher would have written there.',
    objective:
      'The Jensen-Shannon divergence between the next-token distributions of policy and teacher, each with half of the weight, over the whole vocabulary, as a mean over tokens. The gradient does not pass through the sampling or the teacher. Attempts for which there is nothing to tell are left out.',
    schedule:
      'Each round goes once over its batch, in four optimiser steps; after it the teacher’s weights move by a twentieth of their distance to the policy’s for each of them.',
  },
  differences: [
    ...ENGINE_DIFFERENCES,
    'The solver had to be taught to read solutions and feedback, in supervised training before; a language model needs no more than a template.',
    'Feedback has the form of a hint, without the wrong attempt itself, which the teacher sees as the tokens that it scores.',
  ],
  figures: {
    ...TAUGHT_FIGURES,
  },
  startPolicy: 'arithmetic-aided',
  tasks: 32,
  groupSize: 8,
  variants: VARIANTS,
  sets: { ...trainedSolver({ warmup: 8 }), [TEACHER_SET]: slowTeacher(TEACHER_RATE) },
  ...solverAlone({ family: arithmetic, rewards, draws: 2 }),
  learn: (records, tools) => planTraining(chainAttempts, records, tools),
};

const sdpoOn = (game: QuestionGame): Recipe => ({
  ...onQuestions(sdpo, {
    ...taughtSolver(game, rewards),
    learn: (records, tools) =>
      planTraining(
        ({ groups }, _, shuffled) => taughtAnswers(groups, tools.renderer(), { shuffled }),
        records,
        tools,
      ),
  }),
  // A checker of answers gives no feedback that could be told alone, or left out.
  variants: {
    grpo: VARIANTS.grpo,
    'no-average': VARIANTS['no-average'],
    'shuffled-feedback': VARIANTS['shuffled-feedback'],
  },
  differences: [SIBLINGS_ALONE, ...ENGINE_DIFFERENCES],
});

/** The recipe on questions of files, for any policy. */
export const sdpoOnQuestions: RecipeOnQuestions = {
  make: sdpoOn,
  ownReward: 'what its teacher is told are answers that its reward calls right',
};
