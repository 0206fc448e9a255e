/** MR-RLVR: puzzles that are cut from worked solutions train the steps before answers are paid. */
import type { Game } from '../../core/game/game.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import {
  arXiv,
  type Described,
  type Recipe,
  type RecipeOver,
  type WithoutSetup,
} from '../../core/recipe/recipe.ts';
import { rendered, solutionOf } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { grpoUpdate } from '../../protocols/objectives.ts';
import { SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';
import {
  hasPuzzles,
  type Pose,
  payStage,
  posedIn,
  posedOnChains,
  puzzleScore,
  rewards,
  rollOutStage,
  SUMS,
  stageTasks,
  VARIANTS,
} from './puzzles.ts';

/** The mean scores of the answers to puzzles of each kind by the worked solution, whatever they were paid. */
function puzzleFigures(pose: Pose, groups: readonly ScoredGroup[], tools: LearnTools) {
  const scores = groups.map(({ group, task, samples }) => {
    const { kind, places, parts, family } = pose({ group, task });
    const own = rendered(family, tools);
    const each = samples.map((sample) => {
      const solution = solutionOf(own, task, sample, tools);
      return solution.ok ? puzzleScore({ places }, solution.value, parts) : 0;
    });
    return { kind, score: mean(each) };
  });
  const of = (wanted: string) => scores.flatMap(({ kind, score }) => (kind === wanted ? [score] : []));
  const [filled, sorted] = [of('fill'), of('sort')];
  return {
    ...(filled.length ? { filled: mean(filled) } : {}),
    ...(sorted.length ? { sorted: mean(sorted) } : {}),
  };
}

/** The share of tasks of which no answer is exact, by the oracle, for the report alone. */
const deadShare = (groups: readonly ScoredGroup[]): number =>
  mean(groups.map(({ answersExact }) => Number(!answersExact.includes(true))));

const learn = (pose: Pose, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan => ({
  updates: grpoUpdate(groups),
  figures: hasPuzzles(round) ? puzzleFigures(pose, groups, tools) : { dead: deadShare(groups) },
});

const described = {
  name: 'mr-rlvr',
  title: 'Puzzles from worked solutions before answers are paid',
  paper: arXiv(
    '2511.17473',
    'Masked-and-Reordered Self-Supervision for Reinforcement Learning from Verifiable Rewards',
  ),
  summary:
    'Worked solutions are turned into puzzles that check themselves: steps are hidden and have to be filled in, or shuffled and have to be put in order. A first stage pays these by the step, a second one pays exact answers to tasks of which nothing but the answer is known.',
  method: {
    setting:
      'A solver answers arithmetic chains of five sums. Of 256 chains there are worked solutions, of 32 others answers alone. The start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on; it was taught to read puzzles, and solves them with such slips.',
    roles:
      'The solver is the only role. It answers each puzzle and each task eight times, and always writes a whole solution.',
    rewards:
      'In the first stage a puzzle shows, beside its task, a worked solution with three of its five steps hidden, or its five steps shuffled. An answer earns the share of the hidden steps that are right, or the share of all steps that are at their place. In the second stage an exact answer earns 1 and any other 0.',
    credit:
      'The advantage of an answer is its reward minus the mean of its group, divided by the group’s deviation (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, on answers after the prompt that they were sampled from, the puzzle included. There is no KL term.',
    schedule:
      'The first six rounds are the first stage, and all others the second. Each round takes the next 16 tasks of its stage, shuffled anew each time around, and goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'The paper’s formulas for the two scores could not be checked; shares of right steps are the simplest that its abstract admits.',
    'An answer to a puzzle is the whole solution, since the start policy writes nothing else. The steps that are shown are written again and earn nothing.',
    'The steps follow from the task alone, so that a puzzle can be solved without reading what it shows. That is true of worked solutions in the paper as well, and easier here.',
    'Reading puzzles had to be taught, in supervised training before; a language model needs no more than a template.',
    'The worked solutions come from a generator and are all right; the paper takes those of larger models.',
  ],
  figures: {
    filled: 'Mean share of the hidden steps that are right, in puzzles with hidden steps.',
    sorted: 'Mean share of the steps that are at their place, in puzzles with shuffled steps.',
    dead: 'Share of the tasks of which no answer is exact, so that they teach nothing; not of puzzles.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 8 }),
} satisfies Described;

/** The recipe with puzzles of a world. */
function withPuzzles(game: Game<'solve'>, pose: Pose) {
  const { roles, ...alone } = solverAlone({ ...game, draws: 4, rewards });
  return {
    ...described,
    ...alone,
    roles: { [SOLVER]: { ...roles[SOLVER]!, seesGold: true } },
    rollOut: (context, tasks) => rollOutStage(game.family, pose, context, tasks),
    judge: async (context, groups) => payStage(game.family, pose, context, groups),
    learn: (records, tools) => learn(pose, records, tools),
  } satisfies Partial<Recipe>;
}

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], orRule: ['complete', 'arrange'], data: ['answer', 'steps'] },
  over: (game) => withPuzzles(game, posedIn(game)),
  elsewhere: {
    method: {
      rewards:
        'In the first stage a puzzle shows, beside its question, the worked solution with gaps in half of its lines, each in the place of the line’s last number or word, or its lines in another order. An answer earns the share of the gaps that it fills as the solution does, or the share of the lines that are at their place. In the second stage an exact answer earns 1 and any other 0.',
      schedule:
        'The first six rounds are the first stage, and all others the second. Each round goes once over its batch, in four optimiser steps.',
    },
    differences: [
      described.differences[0]!,
      'A gap is filled rightly where the same characters stand in it as in the worked solution; another way to write the same number earns nothing.',
    ],
    variants: { rlvr: VARIANTS.rlvr, 'random-targets': VARIANTS['random-targets'] },
  },
  ownReward: 'its puzzles are paid by the worked solutions that they are made from',
};

const chains = familyGame(arithmetic, {
  tasks: ({ round }) => admitTasks(round, stageTasks(round)),
  tests: (asked) => arithmetic.heldOut(asked).filter((task) => arithmetic.difficulty(task) === SUMS),
});

export const mrRlvr: WithoutSetup = {
  ...withPuzzles(chains, posedOnChains),
  written,
};
