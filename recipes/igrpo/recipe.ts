/** iGRPO: the best of several drafts is shown to those whose attempts are trained on. */
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { grpoUpdate } from '../../protocols/objectives.ts';
import { exactShare, writtenBy } from '../../protocols/samples-of-role.ts';
import { SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import { DRAFTER, draftAndAttempt, VARIANTS } from './drafts.ts';

function learn({ groups }: RoundRecords): TrainingPlan {
  const attempts = groups.map((group) => writtenBy(group, SOLVER));
  const [drafted, attempted] = [
    exactShare(groups.map((group) => writtenBy(group, DRAFTER))),
    exactShare(attempts),
  ];
  return {
    updates: grpoUpdate(attempts),
    // By the oracle, for the report alone.
    figures: {
      ...(drafted === null ? {} : { draftsExact: drafted }),
      ...(attempted === null ? {} : { attemptsExact: attempted }),
    },
  };
}

const described = {
  name: 'igrpo',
  title: 'Attempts that are shown the best of several drafts',
  paper: { title: 'iGRPO: Self-Feedback-Driven LLM Reasoning', year: 2026, source: 'arXiv:2602.09000' },
  summary:
    'A solver first drafts several solutions of a task, on which nothing is trained. The one that the reward function pays best is put into the prompt, and attempts after that prompt are trained on. In use the solver is asked without a draft.',
  method: {
    setting:
      'A solver answers arithmetic chains. Its start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on. It was taught to read a draft after the task, and hands it in unchanged in half of the cases, right or wrong.',
    roles:
      'The drafter and the solver share weights. Of each task the drafter writes four solutions; the solver is shown the best of those that are well-formed, and makes four attempts. Ties between equally good drafts are broken at random; where none is well-formed the solver is shown none.',
    rewards: 'An exact answer earns 1 and any other 0, in drafts and in attempts alike.',
    credit:
      'The advantage of an attempt is its reward minus the mean of the attempts at its task, divided by their deviation (GRPO). Drafts are not trained on.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, on attempts after the prompt that they were sampled from, draft included. There is no KL term.',
    schedule: 'Each round goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'Drafts and attempts are half of a group each, so that a task takes as many rollouts as in GRPO. How the paper divides them could not be checked.',
    'The solver had to be taught to read a draft, in supervised training before; a language model needs no more than a template. Keeping a draft is a habit that the start policy has from there.',
    'Four attempts a task, so that groups are often unanimous.',
  ],
  figures: {
    draftsExact: 'Share of the drafts that are exact.',
    attemptsExact: 'Share of the attempts after a draft that are exact.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'revise'> = {
  needs: { verbs: ['solve', 'revise'], data: ['answer'] },
  over: (game) => {
    const { roles, ...alone } = solverAlone({ ...game, draws: 2 });
    return {
      ...described,
      ...alone,
      roles: {
        [DRAFTER]: role('writes drafts, on which nothing is trained', game.words.solve.maxNew, {
          speaksAs: SOLVER,
        }),
        ...roles,
      },
      rollOut: (context, tasks) => draftAndAttempt(game, context, tasks),
      learn,
    };
  },
  ownReward: 'the reward chooses the draft that is shown',
};

export const igrpo = played(written, aidedSums);
