/** SwS: tasks of the kinds that a first phase of training went on failing are made for a second phase. */
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Proposals, ScoredGroup } from '../../core/schema/sample.ts';
import { candidatesOf } from '../../protocols/evaluate/best-of-n.ts';
import { grpoUpdate } from '../../protocols/objectives.ts';
import { SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { admitTasks, fixedTasks, nextTasks } from '../../worlds/drawn-tasks.ts';
import { failures, shareOf, visited, visits, visitsIn } from './weakness.ts';

/** Rounds of the first phase, and tasks to train on in it. */
export const FIRST = 6;
const SEEDS = 64;
/** The share of a round that is made in the second phase. */
const MADE = 0.5;
/** Between which shares of right answers a made task is trained on. */
const KEPT = { low: 0.25, high: 0.75 } as const;
/** Shares of one to five sums among the tasks of the first phase. */
const SHARES = [0, 0.4, 0.3, 0.2, 0.1];
/** Depths that are called deep in the evaluation, and samples of each task there. */
const DEEP = 4;
const DRAWS = 4;

const VARIANTS = {
  'random-augmentation': 'tasks are made as those of the first phase were drawn, of any depth',
  none: 'no tasks are made: the second phase goes on with those of the first',
} as const;

const depthFrom = (random: Random, shares: readonly number[]): number => 1 + random.weighted(shares);

/** The tasks of the first phase. */
const seeds = fixedTasks('sws/seeds', SEEDS, (random) => freshTask(random, depthFrom(random, SHARES)));

/** Tasks that the first phase does not have, of depths in these shares [depths]. */
function madeTasks(random: Random, count: number, shares: readonly number[]): string[] {
  const made = new Set<string>();
  while (made.size < count) {
    const task = freshTask(random, depthFrom(random, shares));
    if (!seeds().includes(task)) made.add(task);
  }
  return [...made];
}

async function propose(context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const { tasks, variant } = round.settings;
  if (round.index <= FIRST || variant === 'none') return admitTasks(round, nextTasks(round, seeds()));
  const count = Math.floor(tasks * MADE);
  const again = nextTasks({ ...round, settings: { ...round.settings, tasks: tasks - count } }, seeds());
  const failed = failures(visitsIn(await context.recipeState()), SHARES.length);
  const shares = variant === 'random-augmentation' || !failed.some(Boolean) ? SHARES : failed;
  return admitTasks(round, [...again, ...madeTasks(new Random(`${round.id}/made`), count, shares)]);
}

const isMade = ({ task }: Pick<ScoredGroup, 'task'>) => !seeds().includes(task);

function learn({ round, groups, recipeState }: RoundRecords): TrainingPlan {
  const before = visitsIn(recipeState);
  const after = round.index <= FIRST ? visited(before, groups) : before;
  const made = groups.filter(isMade);
  const kept = made.filter((group) => {
    const share = shareOf(group);
    return share !== null && share >= KEPT.low && share <= KEPT.high;
  });
  const failed = failures(after, SHARES.length);
  const sum = failed.reduce((all, count) => all + count, 0);
  return {
    updates: grpoUpdate([...groups.filter((group) => !isMade(group)), ...kept], 0.28),
    recipeState: after,
    figures: {
      failed: sum / SEEDS,
      ...(sum ? { failedDepth: failed.reduce((all, count, d) => all + count * (d + 1), 0) / sum } : {}),
      ...(made.length
        ? {
            madeDepth: mean(made.map(({ task }) => arithmetic.difficulty(task))),
            keptShare: kept.length / made.length,
          }
        : {}),
    },
  };
}

/** Sampled accuracy on the held-out tasks of most sums. */
async function examineDeep(context: EvaluationContext): Promise<Record<string, number>> {
  const deep = {
    ...arithmetic,
    heldOut: (asked?: Parameters<typeof arithmetic.heldOut>[0]) =>
      arithmetic.heldOut(asked).filter((task) => arithmetic.difficulty(task) >= DEEP),
  };
  const tasks = deep.heldOut(context.evaluationTasks).length;
  const sampled = await candidatesOf(context, deep, SOLVER, { tasks, n: DRAWS });
  return { deep: mean(sampled.map(({ exact }) => exact.filter(Boolean).length / DRAWS)) };
}

export const sws: WithoutSetup = {
  name: 'sws',
  title: 'More of what a first phase of training went on failing',
  paper: arXiv(
    '2506.08989',
    'SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning',
  ),
  summary:
    'A first phase of training notes how each of its tasks fared. In the second phase half of each round are new tasks, made in the kinds of those that were failed to the end, and trained on where they are neither too easy nor too hard.',
  method: {
    setting:
      'A solver trains on 64 arithmetic chains of two to five sums, of which few are long. Its start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on, so that the kinds in which it is weak are the deep ones. A kind is a depth, the number of sums.',
    roles: 'The solver is the only role and answers each task eight times. New tasks come from a generator.',
    rewards: 'An exact answer earns 1 and any other 0.',
    credit:
      'The advantage of an answer is its reward minus the mean of its group, divided by the group’s deviation (GRPO). New tasks whose answers are right in fewer than a quarter or more than three quarters of the cases are left out.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.28] and a mean over tokens. There is no KL term.',
    schedule:
      'In the first six rounds the solver meets each task three times. A task is failed if fewer than half of its answers were right at every visit, and the shares do not rise. From the seventh round on half of a round’s tasks are new, their depths drawn in the shares that depths have among the failed tasks. Each round goes once over its batch, in four optimiser steps.',
  },
  needsOfTasks: { datum: 'generator', which: 'a generator of new tasks of every kind' },
  differences: [
    'New tasks come from a generator that is told a depth; in the paper a larger language model extracts concepts of the failed problems and writes problems on combinations of them.',
    'The generator knows the answers. The paper labels each problem by the majority of a teacher’s answers, and drops those on which teacher and student agree too seldom.',
    'A task that is never answered right counts as failed; by the paper’s rule its share would have to fall.',
  ],
  figures: {
    failed: 'Share of the tasks of the first phase that are failed so far.',
    failedDepth: 'Mean number of sums of the failed tasks.',
    madeDepth: 'Mean number of sums of the new tasks.',
    keptShare: 'Share of the new tasks that are trained on.',
    deep: 'Sampled accuracy on the held-out tasks of four and five sums, a mean over four samples of each.',
  },
  variants: VARIANTS,
  state: visits,
  sets: trainedSolver({ warmup: 8 }),
  ...solverAlone({ family: arithmetic, draws: 2, examine: examineDeep }),
  propose,
  learn,
};
