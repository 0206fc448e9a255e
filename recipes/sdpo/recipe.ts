/** SDPO: the policy reads how an attempt went, and by that teaches itself for prompts without this information. */
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import {
  rewardsAlone,
  SIBLINGS_ALONE,
  siblingOrFeedback,
  TAUGHT_FIGURES,
  type TaughtGame,
  type Told,
  taughtAlone,
  taughtAttempts,
} from '../../protocols/privileged-teacher.ts';
import { solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { slowTeacher, TEACHER_RATE, TEACHER_SET } from '../../protocols/teacher-pass.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';

const VARIANTS = {
  grpo: 'rewards alone: the advantages of GRPO, and no teacher',
  sibling: 'the teacher is told right solutions of siblings, and no feedback',
  feedback: 'the teacher is told feedback, and no solutions of siblings',
  'no-average': 'the teacher has the weights that the round trains from',
  'shuffled-feedback': 'the teacher is told what belongs to the next task of the round',
} as const;

const toldIn = (variant: string | undefined): Told =>
  variant === 'sibling' || variant === 'feedback' ? variant : 'both';

async function learn(game: TaughtGame, records: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { groups, round } = records;
  const { variant, rewardFunction } = round.settings;
  if (variant === 'grpo') return rewardsAlone(groups);
  const aidFor = siblingOrFeedback(game, tools, {
    told: toldIn(variant),
    checked: rewardFunction === 'exact',
  });
  const attempts = taughtAttempts(game, groups, tools, aidFor, { shuffled: variant === 'shuffled-feedback' });
  return taughtAlone(records, tools, attempts, {
    set: variant === 'no-average' ? MAIN_SET : TEACHER_SET,
    divergence: { kind: 'jensen-shannon', beta: 0.5 },
  });
}

/** Differences from the paper that hold whatever is answered. */
const ENGINE_DIFFERENCES = [
  'The teacher moves once a round, by as much as it would in four steps after which the policy stood where it stands at the end; the paper moves it after each.',
  'Divergences are taken over the whole vocabulary; the paper takes the policy’s 20 or 100 likeliest and counts the rest as one.',
  'A token’s loss is not multiplied by its clipped importance ratio: a round’s samples are of the version that it trains from, and it makes four steps.',
];

const described = {
  name: 'sdpo',
  title: 'A policy that is told how it went teaches itself',
  paper: { title: 'Reinforcement Learning via Self-Distillation', year: 2026, source: 'arXiv:2601.20802' },
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
  figures: { ...TAUGHT_FIGURES },
  variants: VARIANTS,
  sets: { ...trainedSolver({ warmup: 8 }), [TEACHER_SET]: slowTeacher(TEACHER_RATE) },
} satisfies Described;

const written: RecipeOver<'solve' | 'retell' | 'correct'> = {
  needs: { verbs: ['solve', 'retell', 'correct'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...solverAlone({ ...game, draws: 2 }),
    learn: (records, tools) => learn(game, records, tools),
  }),
  elsewhere: {
    // A checker of answers gives no feedback that could be told alone, or left out.
    variants: {
      grpo: VARIANTS.grpo,
      'no-average': VARIANTS['no-average'],
      'shuffled-feedback': VARIANTS['shuffled-feedback'],
    },
    differences: [SIBLINGS_ALONE, ...ENGINE_DIFFERENCES],
  },
  ownReward: 'what its teacher is told are answers that its reward calls right',
};

export const sdpo = played(written, aidedSums);
