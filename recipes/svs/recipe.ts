/** SvS: the policy turns its right solutions into variations of the tasks that it often fails, and trains on both. The method is described below, as data. */

import type { LearnTools, PolicyPart, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import type { EvaluationTasks } from '../../core/recipe/split.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { admitTasks, fixedTasks, nextTasks } from '../../protocols/drawn-tasks.ts';
import { candidatesOf } from '../../protocols/evaluate/best-of-n.ts';
import { groupItems, SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { VARIED_SUMS } from '../../worlds/arithmetic/variations.ts';
import {
  attemptedTask,
  payVariations,
  rewards,
  solveAndVary,
  VARIANTS,
  variationIn,
  WRITER,
} from './variations.ts';

/** How many tasks there are to train on. */
const TASKS = 64;
/** Samples of each task in the evaluation, of which one has to be exact. */
const PASS_AT = 8;

/** The tasks that are trained on. */
const trainedTasks = fixedTasks('svs/tasks', TASKS, (random) => freshTask(random, VARIED_SUMS));

/** Samples that are compared with one another, each with its reward as `reward`: attempts at one task or variation, or the variations of a task. */
interface Compared {
  readonly group: string;
  readonly role: string;
  /** What is attempted; of variations the task. */
  readonly task: string;
  readonly samples: Sample[];
}

function comparedIn({ group, task, samples }: ScoredGroup, tools: Pick<LearnTools, 'decode'>): Compared[] {
  const attempts = samples.filter(({ role }) => role === SOLVER);
  const written = samples
    .filter(({ role }) => role === WRITER)
    .map((sample) => ({ ...sample, rewards: { reward: sample.rewards.variation ?? null } }));
  const attempted = new Set(attempts.map((sample) => attemptedTask(sample, tools)));
  return [
    ...[...attempted].map((one) => ({
      group: `${group}/${one}`,
      role: SOLVER,
      task: one,
      samples: attempts.filter((sample) => attemptedTask(sample, tools) === one),
    })),
    { group: `${group}/${WRITER}`, role: WRITER, task, samples: written },
  ];
}

const rewardsOf = ({ samples }: Pick<Compared, 'samples'>) =>
  samples.map(({ rewards: paid }) => paid.reward ?? null);

/** GRPO for a role, where rewards differ. */
function reinforced(role: string, compared: readonly Compared[]): PolicyPart[] {
  const differing = compared.filter((one) => one.role === role && new Set(rewardsOf(one)).size > 1);
  if (differing.length === 0) return [];
  return [
    {
      kind: 'policy',
      role,
      weight: 1,
      items: groupItems(differing, grpo),
      objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28 },
      aggregation: { mode: 'token-mean' },
    },
  ];
}

const answerOf = (task: string): number => runningTotals(task).at(-1)!;

/** What became of the variations of a round; `sameAnswer` is by the oracle, for the report alone. */
function variationFigures(groups: readonly ScoredGroup[], tools: Pick<LearnTools, 'decode'>) {
  const written = groups.flatMap(({ task, samples }) =>
    samples.filter(({ role }) => role === WRITER).map((sample) => ({ task, sample })),
  );
  if (written.length === 0) return {};
  const valid = written.flatMap(({ task, sample }) =>
    sample.outcome === 'ok' ? [{ task, variation: variationIn(sample, tools) }] : [],
  );
  const solveRates = groups.flatMap((group) =>
    comparedIn(group, tools)
      .filter(({ role, task }) => role === SOLVER && task !== group.task)
      .map((attempts) => rewardsOf(attempts).flatMap((reward) => reward ?? []))
      .filter((rated) => rated.length > 0)
      .map(mean),
  );
  return {
    varied: new Set(written.map(({ task }) => task)).size / groups.length,
    paidVariations: mean(written.map(({ sample }) => Number(sample.rewards.variation === 1))),
    ...(valid.length
      ? {
          sameAnswer: mean(
            valid.map(({ task, variation }) => Number(answerOf(variation) === answerOf(task))),
          ),
          sums: mean(valid.map(({ variation }) => arithmetic.difficulty(variation))),
          solveRate: mean(solveRates),
        }
      : {}),
  };
}

async function learn({ groups }: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const compared = groups.flatMap((group) => comparedIn(group, tools));
  const parts = [SOLVER, WRITER].flatMap((role) => reinforced(role, compared));
  const attempts = groups.flatMap((group) =>
    group.samples.filter((sample) => sample.role === SOLVER && attemptedTask(sample, tools) === group.task),
  );
  const entropies = await tools.entropies(MAIN_SET, attempts);
  return {
    updates: parts.length ? [{ set: MAIN_SET, parts }] : [],
    figures: {
      taskEntropy: mean(entropies.flatMap((each) => Array.from(each))),
      ...variationFigures(groups, tools),
    },
  };
}

/** The held-out tasks that are as long as those that are trained on. */
const examined = (asked?: EvaluationTasks): readonly string[] =>
  arithmetic.heldOut(asked).filter((task) => arithmetic.difficulty(task) === VARIED_SUMS);

/** The share of held-out tasks of whose samples one or more are exact. */
async function passAt(context: EvaluationContext): Promise<Record<string, number>> {
  const tasks = examined(context.evaluationTasks);
  const sampled = await candidatesOf(context, { ...arithmetic, heldOut: examined }, SOLVER, {
    tasks: tasks.length,
    n: PASS_AT,
  });
  return { pass8: mean(sampled.map(({ exact }) => Number(exact.includes(true)))) };
}

const { roles, ...alone } = solverAlone({
  family: arithmetic,
  rewards,
  draws: 4,
  examined,
  examine: passAt,
  tasks: ({ round }) => admitTasks(round, nextTasks(round, trainedTasks())),
});

export const svs: Recipe = {
  name: 'svs',
  title: 'Variations of hard tasks, written from one’s own solutions',
  paper: {
    title: 'Beyond Pass@1: Self-Play with Variational Problem Synthesis Sustains RLVR',
    year: 2025,
    source: 'arXiv:2508.14029',
  },
  summary:
    'Where a solver fails at half of its attempts or more, but not at all, the policy reads a right solution and writes other tasks with the same answer. They need no checker: the answer is known. The solver trains on them as well, and the writer is paid where they are neither too easy nor too hard.',
  method: {
    setting:
      'A solver trains on 64 arithmetic chains of five sums, again and again. Its start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on. It was taught to read a solution with its task and to write another task with the same answer: two neighbouring numbers in the other order, or, in one of four, the total of the first numbers in their place. One in three of the tasks that it writes has another answer all the same.',
    roles:
      'The solver answers each task eight times. If between one of eight and half of the answers are right, the writer, who shares the solver’s weights, reads the first right solution with its task and writes four variations. Those that are chains, not held out and not the task itself are answered eight times each; equal ones once.',
    rewards:
      'An exact answer to a task earns 1 and any other 0. An answer to a variation earns 1 where it is the answer of the solution that the variation was written from; nobody checks whether it is right. A variation earns 1 where between 1/8 and 5/8 of its answers are paid, otherwise 0.',
    credit:
      'The advantage is the reward minus the mean of the answers to the same task or variation, or of the variations of the same task, divided by their deviation (GRPO). Groups that do not differ in reward are left out.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.28] and a mean over tokens, for answers and for variations. There is no KL term.',
    schedule:
      'Each round takes the next 16 of the tasks, shuffled anew each time around, and goes once over its batch, in four optimiser steps.',
  },
  needsOfTasks: 'a policy that was taught to write variations of a task beside its solution',
  differences: [
    'The writer reads the task beside the solution. A language model’s solution tells its problem again; here it holds the running totals alone.',
    'There is one right way to work a chain out, so that the right solutions of a task are one text: the writer reads it and writes four variations, where the paper has it read each right solution.',
    'Variations are chains of the same kind, in another order or shorter, where a language model changes what a problem is about.',
    'A variation that is the task itself counts as a duplicate and earns nothing. A model that words a problem anew can hardly write the same text.',
    'Writing variations had to be taught, in supervised training before; a language model needs no more than a template.',
    'The paper asks whether one of 32 samples is exact. Here one of sixteen is on 96 of 100 held-out tasks before any training, so that eight are taken.',
    'Rounds with variations take more rollouts than rounds without, as in the paper; arms have the same number of updates, not of rollouts.',
    'Answers and variations are two parts of the loss with the same weight; the paper mixes them in one batch.',
  ],
  figures: {
    taskEntropy: 'Mean entropy of the policy at the tokens of its answers to the tasks, nats per token.',
    varied: 'Share of the tasks of which variations were written.',
    paidVariations: 'Share of the variations that were paid; one that is held out is not.',
    sameAnswer: 'Share of the valid variations that have the answer that is expected, by the oracle.',
    sums: 'Mean number of sums in a valid variation.',
    solveRate: 'Mean share of the answers to a variation that are the expected one.',
    pass8: 'Share of the held-out tasks of whose eight samples one or more are exact.',
  },
  startPolicy: 'arithmetic-variations',
  tasks: 16,
  groupSize: 8,
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 8 }),
  ...alone,
  roles: {
    ...roles,
    [WRITER]: {
      description: 'writes tasks with the same answer from a right solution',
      sampling: { maxNew: arithmetic.maxNew.proposer + 2, temperature: 1 },
      seesGold: true,
    },
  },
  rollOut: solveAndVary,
  judge: payVariations,
  learn,
};
