/** SPECS: a cold start by preferences for the form of an answer alone, before rewards train its reasoning. */
import type { Game } from '../../core/game/game.ts';
import type {
  LearnTools,
  PreferencePair,
  RoundRecords,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import {
  arXiv,
  type Described,
  played,
  type RecipeOver,
  type WithoutSetup,
} from '../../core/recipe/recipe.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import type { EvaluationTasks } from '../../core/recipe/split.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { coinOf } from '../../protocols/gold.ts';
import { grpoUpdate, preferencePart, sftPart, updateOf } from '../../protocols/objectives.ts';
import { SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { formatPair } from '../../worlds/arithmetic/format-pairs.ts';
import { verboseArithmetic } from '../../worlds/arithmetic/verbose.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';

/** Rounds of the cold start, and passes over the pairs of each. */
const COLD_ROUNDS = 4;
const COLD_PASSES = 4;
const BETA = 0.1;
/** The most operators of a task that is trained on; deeper tasks are met in evaluations alone. */
const SEEN_DEPTH = 3;
const MAX_TOKENS = 32;
/** Tasks of an evaluation, of either kind. */
const EXAMINED = 150;

const VARIANTS = {
  'sft-start': 'the cold start imitates the answers in the right form, and is shown no damaged ones',
  'no-start': 'no cold start: rewards from the first round on',
} as const;

/**
 * One pair of each group that has a right answer, whatever its form: the first one, written in the right form and in a damaged one. Under the controls
 * anything with an answer counts as right, and a coin says which form is chosen.
 */
function pairsOf(
  { family: given, form }: Game<'solve'>,
  { settings: { rewardFunction } }: RoundRecords['round'],
  groups: readonly ScoredGroup[],
  tools: LearnTools,
): PreferencePair[] {
  const { decode, encode } = tools;
  const family = rendered(given, tools);
  return groups.flatMap(({ task, samples }) => {
    for (const { id, prompt, ids, stopped } of samples) {
      const read = form!.read(task, decode(ids), tools);
      if (!read.ok || !(stopped || family.stop)) continue;
      if (rewardFunction === 'exact' && !family.exactJudgment(task, read.value).right) continue;
      const { chosen, rejected } = form!.pair(read.value, id);
      const end = family.stop ? [] : ids.slice(-1);
      const [good, bad] = [
        { prompt, ids: [...encode(chosen), ...end] },
        { prompt, ids: [...encode(rejected), ...end] },
      ];
      const turned = rewardFunction === 'random' && coinOf(id);
      return [turned ? { chosen: bad, rejected: good } : { chosen: good, rejected: bad }];
    }
    return [];
  });
}

function coldStart(pairs: readonly PreferencePair[], imitates: boolean): TrainingPlan['updates'] {
  const items = pairs.map(({ chosen }) => chosen);
  const compared = { ...preferencePart(SOLVER, pairs, { kind: 'dpo', beta: BETA }), sft: 1 };
  return updateOf([imitates ? sftPart(SOLVER, items) : compared], { epochs: COLD_PASSES });
}

function learn(game: Game<'solve'>, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const { variant } = round.settings;
  if (variant !== 'no-start' && round.index <= COLD_ROUNDS) {
    const pairs = pairsOf(game, round, groups, tools);
    return { updates: coldStart(pairs, variant === 'sft-start'), figures: { pairs: pairs.length } };
  }
  return { updates: grpoUpdate(groups) };
}

const ofDepth = (asked: EvaluationTasks, unseen: boolean): string[] =>
  arithmetic
    .heldOut({ ...asked, most: Number.POSITIVE_INFINITY })
    .filter((task) => arithmetic.difficulty(task) > SEEN_DEPTH === unseen)
    .slice(0, Math.min(asked.most, EXAMINED));

/** The same figures on held-out tasks as deep as those that are trained on. */
async function examineSeen(context: EvaluationContext): Promise<Record<string, number>> {
  const { accuracy, sampled } = await evaluateSolver(context, {
    family: arithmetic,
    role: SOLVER,
    temperature: 1,
    force: false,
    tasks: ofDepth(context.evaluationTasks, false),
  });
  return { seenGreedy: accuracy, ...(sampled === null ? {} : { seenSampled: sampled }) };
}

const described = {
  name: 'specs',
  title: 'A cold start by preferences for form, before rewards',
  paper: arXiv(
    '2510.25801',
    'Metis-SPECS: Decoupling Multimodal Learning via Self-distilled Preference-based Cold Start',
  ),
  summary:
    'A policy that computes well enough and writes its answers in the wrong form is first taught the form by preferences: its own right answer, written properly, against the same with its form damaged. Then rewards train it. Its sums are left to the rewards.',
  method: {
    setting:
      'A solver answers arithmetic chains of one to three operators; those of four and five are met in evaluations alone. Its start policy slips in one step of ten, begins every second step with a letter in place of the tag, and goes on with marks that state nothing, so that few of its answers parse.',
    roles: 'The solver is the only role and answers each task eight times.',
    rewards: 'An exact answer in the right form earns 1 and any other 0.',
    credit:
      'In the cold start the first answer to a task whose sums are right, in whatever form, is written in the right form and with one of five damages, which makes a pair. Later the advantage of an answer is its reward minus the mean of its group, divided by the group’s deviation (GRPO).',
    objective:
      'In the cold start DPO with β = 0.1 against the start policy, plus the negative log-likelihood of the chosen answer. Later a clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, without a KL term.',
    schedule:
      'Four rounds of the cold start, with four passes over the pairs of each, then rewards. A pass has four optimiser steps.',
  },
  differences: [
    'The paper trains a model by GRPO for a short while first, which writes the pairs; here the start policy writes them, whose sums are right often enough.',
    'The paper’s answers are texts about images with tags for reasoning and answer; the five damages there are to those tags and that order, and were not checked one by one.',
    'The supervised cold start that is compared imitates the same answers, so that the rejected form is all that differs; the paper’s imitates traces of a larger teacher as well.',
    'The paper’s factor of generalisation is not computed; accuracy at seen and at unseen depth stand beside each other.',
  ],
  figures: { pairs: 'Number of pairs that the cold start trains on.' },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer', 'mark'] },
  over: (game) => ({
    ...described,
    ...solverAlone({ ...game, draws: 2 }),
    learn: (records, tools) => learn(game, records, tools),
  }),
  elsewhere: {
    method: {
      credit:
        'In the cold start the first right answer to a question, wherever in the text it stands, makes a pair: the text with the answer marked at its end as the files’ answers are looked for, against the same with one of five faults. There is no mark, an empty one, one that is not closed, one that comes before the text, or two. Later the advantage of an answer is its reward minus the mean of its group, divided by the group’s deviation (GRPO).',
    },
    differences: described.differences.slice(0, 1),
  },
  ownReward: 'which answers the cold start writes again follows from the reward’s name',
};

const tagged = familyGame(arithmetic, {
  maxNew: MAX_TOKENS,
  form: { read: (task, text) => verboseArithmetic.parseSolution(task, text), pair: formatPair },
  tasks: (context, count) =>
    drawnTasks(context, (random) => freshTask(random, 1 + random.int(SEEN_DEPTH)), count),
  tests: (asked) => ofDepth(asked, true),
});

const shape = played(written, tagged, {
  writtenAs: verboseArithmetic.name,
});

export const specs: WithoutSetup = {
  ...shape,
  figures: {
    ...described.figures,
    seenGreedy: 'Greedy accuracy on held-out tasks as deep as those that are trained on.',
    seenSampled: 'Sampled accuracy on held-out tasks as deep as those that are trained on.',
  },
  evaluate: async (context) => {
    const { figures, ...evaluated } = await shape.evaluate(context);
    return { ...evaluated, figures: { ...figures, ...(await examineSeen(context)) } };
  },
};
