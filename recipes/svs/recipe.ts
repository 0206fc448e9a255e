/** SvS: the policy turns its right solutions into variations of the tasks that it often fails, and trains on both. */
import type { LearnTools, PolicyPart, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import type { EvaluationTasks } from '../../core/recipe/split.ts';
import { rendered, type TaskFamily } from '../../core/recipe/task-family.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean, present } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { candidatesOf } from '../../protocols/evaluate/best-of-n.ts';
import { ppoClip, updateOf } from '../../protocols/objectives.ts';
import {
  groupItems,
  policyPart,
  rewardOf,
  SOLVER,
  solverAlone,
  trainedSolver,
} from '../../protocols/solver.ts';
import { referenceSolution } from '../../worlds/arithmetic/aided.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { VARIED_SUMS, variationWords } from '../../worlds/arithmetic/variations.ts';
import { admitTasks, fixedTasks, nextTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';
import {
  attemptedTask,
  payVariations,
  type Reader,
  solveAndVary,
  VARIANTS,
  type VariedGame,
  variationsIn,
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

function comparedIn(scored: ScoredGroup): Compared[] {
  const { group, task, samples } = scored;
  const attempts = samples.filter(({ role }) => role === SOLVER);
  const written = samples
    .filter(({ role }) => role === WRITER)
    .map((sample) => ({ ...sample, rewards: { reward: sample.rewards.variation ?? null } }));
  const attempted = new Set(attempts.map((sample) => attemptedTask(scored, sample)));
  return [
    ...[...attempted].map((one) => ({
      group: `${group}/${one}`,
      role: SOLVER,
      task: one,
      samples: attempts.filter((sample) => attemptedTask(scored, sample) === one),
    })),
    { group: `${group}/${WRITER}`, role: WRITER, task, samples: written },
  ];
}

/** GRPO for a role, where rewards differ. */
function reinforced(role: string, compared: readonly Compared[]): PolicyPart[] {
  const differing = compared.filter(
    (one) => one.role === role && new Set(one.samples.map(rewardOf)).size > 1,
  );
  if (differing.length === 0) return [];
  return [policyPart(role, groupItems(differing, grpo), ppoClip(0.28))];
}

/** What became of the variations of a round; `sameAnswer` is by the oracle, for the report alone, where it knows the answers to variations. */
function variationFigures(
  { family, reference }: VariedGame,
  groups: readonly ScoredGroup[],
  written: Written[],
) {
  if (written.length === 0) return {};
  const valid = written.flatMap(({ task, variation }) => (variation === null ? [] : [{ task, variation }]));
  const known = reference ? valid.filter(({ variation }) => !family.isUnlabelled?.(variation)) : [];
  const solveRates = groups.flatMap((group) =>
    comparedIn(group)
      .filter(({ role, task }) => role === SOLVER && task !== group.task)
      .map(({ samples }) => present(samples.map(rewardOf)))
      .filter((rated) => rated.length > 0)
      .map(mean),
  );
  const isSame = (task: string, other: string) => reference!(task).answer === reference!(other).answer;
  return {
    varied: new Set(written.map(({ task }) => task)).size / groups.length,
    paidVariations: mean(written.map(({ sample }) => Number(sample.rewards.variation === 1))),
    ...(known.length
      ? { sameAnswer: mean(known.map(({ task, variation }) => Number(isSame(task, variation)))) }
      : {}),
    ...(valid.length ? { sums: mean(valid.map(({ variation }) => family.difficulty(variation))) } : {}),
    ...(solveRates.length ? { solveRate: mean(solveRates) } : {}),
  };
}

/** What the writer wrote about a task; a variation that was not admitted is null. */
interface Written {
  readonly task: string;
  readonly sample: Sample;
  readonly variation: string | null;
}

const writtenIn = (game: VariedGame, group: ScoredGroup, reader: Reader): Written[] => {
  const variations = variationsIn(game, group, reader);
  return group.samples.flatMap((sample, i) =>
    sample.role === WRITER ? [{ task: group.task, sample, variation: variations[i]! }] : [],
  );
};

async function learn(game: VariedGame, { groups }: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const reader = { renderer: tools.renderer, tokenizer: tools };
  const compared = groups.flatMap(comparedIn);
  const parts = [SOLVER, WRITER].flatMap((role) => reinforced(role, compared));
  const attempts = groups.flatMap((group) =>
    group.samples.filter((sample) => sample.role === SOLVER && attemptedTask(group, sample) === group.task),
  );
  const entropies = await tools.entropies(MAIN_SET, attempts);
  return {
    updates: updateOf(parts),
    figures: {
      taskEntropy: mean(entropies.flatMap((each) => Array.from(each))),
      ...variationFigures(
        game,
        groups,
        groups.flatMap((group) => writtenIn(game, group, reader)),
      ),
    },
  };
}

/** The held-out tasks that are as long as those that are trained on. */
const examined = (asked?: EvaluationTasks): readonly string[] =>
  arithmetic.heldOut(asked).filter((task) => arithmetic.difficulty(task) === VARIED_SUMS);

/** The share of held-out tasks of whose samples one or more are exact. */
async function passAt(context: EvaluationContext, family: TaskFamily): Promise<Record<string, number>> {
  const tasks = family.heldOut(context.evaluationTasks).length;
  const sampled = await candidatesOf(context, family, SOLVER, { tasks, n: PASS_AT });
  return { pass8: mean(sampled.map(({ exact }) => Number(exact.includes(true)))) };
}

const described = {
  name: 'svs',
  title: 'Variations of hard tasks, written from one’s own solutions',
  paper: arXiv('2508.14029', 'Beyond Pass@1: Self-Play with Variational Problem Synthesis Sustains RLVR'),
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
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'derive'> = {
  needs: { verbs: ['solve', 'derive'], data: ['answer'] },
  over: (game) => {
    const { family, words } = game;
    const { roles, ...alone } = solverAlone({
      ...game,
      draws: 4,
      examine: (context) => passAt(context, rendered(family, context)),
    });
    return {
      ...described,
      ...alone,
      roles: {
        ...roles,
        [WRITER]: role('writes tasks with the same answer from a right solution', words.derive.maxNew, {
          seesGold: true,
        }),
      },
      rollOut: (context, tasks) => solveAndVary(game, context, tasks),
      judge: (context, groups) => payVariations(game, context, groups),
      learn: (records, tools) => learn(game, records, tools),
    };
  },
  elsewhere: {
    differences: [
      'The writer reads the first right solution of a question and writes four variations of it, where the paper has it read each right solution.',
      'A variation that was written before in the round, or that is in the files, counts as a duplicate and earns nothing.',
      'An answer to a variation earns 1 where its text is that of the answer that the right solution gives.',
      'The paper asks whether one of 32 samples is exact; here eight are taken.',
      'Answers and variations are two parts of the loss with the same weight; the paper mixes them in one batch.',
    ],
  },
  ownReward: 'a variation is paid by how many of its answers are the expected one',
  readsAllTasks: 'its control expects the answers of other questions',
};

const variedSums = familyGame(arithmetic, {
  words: variationWords,
  reference: referenceSolution,
  tasks: ({ round }) => admitTasks(round, nextTasks(round, trainedTasks())),
});

export const svs = played(written, variedSums, {
  // Held-out tasks are as long as those that are trained on.
  evaluate: solverAlone({
    family: arithmetic,
    draws: 4,
    tests: examined,
    examine: (context) => passAt(context, { ...arithmetic, heldOut: examined }),
  }).evaluate,
});
