/** SAGE: hints that the policy writes itself, for tasks at which it always fails. */
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { mean } from '../../core/rl/statistics.ts';
import { grpoUpdate } from '../../protocols/objectives.ts';
import { solverAlone, trainedSolver } from '../../protocols/solver.ts';
import {
  attemptWithHints,
  HINTER,
  type HintedGame,
  hintsOf,
  payAttempts,
  trainedAttempts,
  VARIANTS,
} from './hints.ts';
import { longSums } from './sums.ts';

function learn({ groups }: RoundRecords): TrainingPlan {
  const trained = groups.map(trainedAttempts);
  const varied = trained.map(
    ({ samples }) => new Set(samples.map(({ rewards: paid }) => paid.reward)).size > 1,
  );
  const hints = groups.map(hintsOf);
  return {
    updates: grpoUpdate(trained, 0.28),
    figures: {
      taught: mean(varied.map(Number)),
      hinted: mean(hints.map((count) => Number(count > 0))),
      // Of the groups with hints, those whose attempts then differ in reward.
      ...(hints.some(Boolean) ? { hintsHelp: mean(varied.filter((_, g) => hints[g]! > 0).map(Number)) } : {}),
    },
  };
}

const described = {
  name: 'sage',
  title: 'Hints of one’s own for tasks at which every attempt fails',
  paper: arXiv('2602.03143', 'Self-Hinting Language Models Enhance Reinforcement Learning'),
  summary:
    'Where every attempt at a task fails, GRPO learns nothing. There the policy writes itself a hint from the reference solution, tells more with each level, and tries again until an attempt succeeds. Those attempts are trained on in place of the failed ones; in use there are no hints.',
  method: {
    setting:
      'A solver answers arithmetic chains of five sums. Its start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on, so that often none of eight attempts is right. It was taught to go on after a hint, which is how a solution begins, and to write hints from a reference solution, one in ten of them with a wrong total.',
    roles:
      'The solver makes eight attempts at a task. If all fail, the hinter, who shares its weights, sees the exact solution and a level and writes a hint: on level 1 about a quarter of the steps, on level 2 half, on level 3 three quarters. The solver makes eight attempts after the task and the hint. If all fail again the next level is tried. Hints that do not parse are not shown.',
    rewards: 'An exact answer earns 1 and any other 0, with or without a hint. A hint earns nothing.',
    credit:
      'The advantage of an attempt is its reward minus the mean of the attempts after the same prompt, divided by their deviation (GRPO). Attempts after the last hint take the place of those that failed. Hints are not trained on.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.28] and a mean over tokens, on attempts after the prompt that they were sampled from, hint included. There is no KL term.',
    schedule: 'Each round goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'The paper’s hinter writes all three levels at once, in words; here each is asked for as it is needed, and is the beginning of a solution.',
    'Solver and hinter had to be taught to read and to write hints, in supervised training before; a language model needs no more than a template.',
    'Hinted rounds take more rollouts than plain ones, as in the paper; arms have the same number of updates, not of rollouts.',
    'The light variant, which carries a level for each task from one epoch to the next, is left out: no task comes twice.',
  ],
  figures: {
    taught: 'Share of the groups whose attempts differ in reward, so that they teach.',
    hinted: 'Share of the groups that got hints.',
    hintsHelp: 'Share of the groups with hints whose attempts then differ in reward.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
  bindings: ({ variant }) => (variant === 'start-hints' ? { [HINTER]: { pinned: true } } : {}),
} satisfies Described;

const { 'random-hints': _, ...WITHOUT_OTHERS } = VARIANTS;

const written: RecipeOver<'solve' | 'follow' | 'hint'> = {
  needs: { verbs: ['solve', 'follow', 'hint'], data: ['answer', 'solution'] },
  over: (game: HintedGame) => {
    const { roles, ...alone } = solverAlone({ ...game, draws: 2 });
    return {
      ...described,
      ...alone,
      roles: {
        ...roles,
        [HINTER]: role('writes hints from the reference solution, on 3 levels', game.words.hint.maxNew, {
          usesGold: true,
          seesGold: true,
        }),
      },
      rollOut: (context, tasks) => attemptWithHints(game, context, tasks),
      judge: (context, groups) => payAttempts(game, context, groups),
      learn,
    };
  },
  elsewhere: {
    variants: WITHOUT_OTHERS,
    differences: [
      'The paper’s hinter writes all three levels at once; here each is asked for as it is needed.',
      'Hints are written from the worked solution of the file. Nothing but the prompt keeps the result out of them.',
      'Hinted rounds take more rollouts than plain ones, as in the paper; arms have the same number of updates, not of rollouts.',
      'The light variant, which carries a level for each task from one epoch to the next, is left out.',
    ],
  },
  ownReward: 'whether a hint is given follows from the reward of the attempts before it',
};

export const sage = played(written, longSums);
