/**
 * The flagship: trio in the world of compositions, where tasks have depths that are climbed. What differs from trio is described below, as data;
 * ladder.ts has the variants.
 */
import type { WithoutSetup } from '../../core/recipe/recipe.ts';
import type { ParseResult, Solution } from '../../core/recipe/task-family.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { trainedSolver } from '../../protocols/solver.ts';
import { evaluate } from '../../protocols/trio/evaluate.ts';
import { propose } from '../../protocols/trio/propose.ts';
import { rewards } from '../../protocols/trio/rewards.ts';
import { DIFFERENCES, PAPER, ROLES, SCHEDULE, trioOver } from '../../protocols/trio/stages.ts';
import { composition, DEEPEST_TRAINED, depthOf } from '../../worlds/composition/family.ts';
import { compositions } from '../../worlds/toy-worlds.ts';
import {
  climbed,
  drawnLadder,
  isFineTuned,
  isJudged,
  ladderState,
  payOf,
  refusesDeep,
  VARIANTS,
} from './ladder.ts';

const { gold, ...others } = rewards;
/** The rewards of trio, the exact checker's first, without a penalty for the distance to version 0. */
const free = Object.fromEntries(
  Object.entries({ gold: gold!, ...others }).map(([name, reward]) => [name, { ...reward, kl: 0 }]),
);

const shared = trioOver(compositions, {
  proposals: payOf,
  rewards: free,
  solver: (rewards, groups) => grpo(rewards, groups),
  // A judge at chance is paid by luck, which would be noise in the shared weights. It is trained where its votes alone pay the solver.
  weights: ({ votes }) => ({ proposer: 0.5, judge: Number(votes > 1) }),
  fineTuned: isFineTuned,
  judged: isJudged,
});

/** Share of a round's tasks by depth, as `written.1`, `written.2`, … */
const written = (groups: readonly ScoredGroup[]): Record<string, number> =>
  Object.fromEntries(
    Array.from({ length: DEEPEST_TRAINED }, (_, i) => [
      `written.${i + 1}`,
      mean(groups.map(({ task }) => Number(depthOf(task) === i + 1))),
    ]),
  );

/** Share of tasks with every step right by depth, as `solved.1`, `solved.2`, … */
function solved(tasks: readonly string[], answers: readonly ParseResult<Solution>[]): Record<string, number> {
  const right = answers.map((answer, t) =>
    Number(answer.ok && composition.exactJudgment(tasks[t]!, answer.value).right),
  );
  return Object.fromEntries(
    [...new Set(tasks.map(depthOf))]
      .sort((a, b) => a - b)
      .map((depth) => [`solved.${depth}`, mean(right.filter((_, t) => depthOf(tasks[t]!) === depth))]),
  );
}

/** trio where tasks have depths, so that there is something to learn for as long as the proposer finds what is hard. */
export const trioInComposition: WithoutSetup = {
  ...shared,
  name: 'trio-in-composition',
  called: 'trio in composition',
  title: 'Proposer and solver co-trained where the proposer chooses how deep tasks are nested',
  paper: PAPER,
  needsOfTasks: {
    datum: 'generator',
    which: 'tasks that the policy writes and a checker knows the answers of',
  },
  summary:
    'One policy writes tasks that nest functions, such as “f07 of f12 of bdca”, solves them call by call, and judges the solutions step by step. The proposer is paid for tasks that half of the rollouts solve, so that the depth that it writes climbs with the solver; the solver by the exact checker. The judge’s verdicts are shown and pay nobody unless a reward says so.',
  method: {
    setting:
      'Tasks are nested calls of sixteen functions on strings of four letters, whose names say nothing of what they do. The start policy knows each function alone and the order in which calls are worked out; it solves most tasks of two calls, some of three and next to none of four. It writes tasks of one call mostly, and of three now and then. Nobody supplies tasks.',
    roles: ROLES,
    rewards:
      'The proposer earns 4p(1 - p), where p is the share of the task’s rollouts that pass; what is no task, repeats another, or is answered as well by a way that stops early, earns 0, and a held-out one nothing at all. A task earns less by the share of the round’s other tasks that nest the same functions in the same order. A penalty would drive it to the shortest tasks, which are right more often. The solver’s default reward is 1 for an exact answer. The judge earns 1 where its verdict on the whole is that of the exact checker, or, with the rewards `self-consistency` and `majority`, where it says whether the solution gives the majority answer of its task.',
    credit:
      'Advantages are computed role by role. The proposer’s rewards are whitened over the round. The solver’s are centred on the mean of their task and divided by its deviation (GRPO).',
    objective:
      'The loss is the sum of the proposer’s and the solver’s clipped policy gradients (ratios in [0.8, 1.28], a mean over each role’s tokens), with a weight of 0.5 for the proposer’s. The judge, which begins at chance, is trained where its verdict alone pays the solver, and otherwise not: its steps would be noise for the other two. There is no KL divergence to version 0.',
    schedule: SCHEDULE,
  },
  differences: DIFFERENCES,
  figures: {
    solved:
      'Share of held-out tasks of this depth (calls that are nested) that greedy answers solve with every step right. One depth more than any task that may be trained on is asked, too.',
    written: 'Share of the round’s tasks that the proposer wrote with this depth.',
  },
  variants: VARIANTS,
  state: ladderState,
  sets: trainedSolver({ learningRate: 2e-4, warmup: 5, minibatches: 2 }),
  propose: async (context) =>
    (await drawnLadder(context)) ?? propose(compositions, context, refusesDeep(context.round)),
  learn: (records) => {
    const recipeState = climbed(records.round, records.recipeState, records.groups);
    return {
      ...shared.learn(records),
      figures: written(records.groups),
      ...(recipeState && { recipeState }),
    };
  },
  evaluate: (context) => evaluate(composition, context, { figures: solved, judged: isJudged(context.round) }),
};
