/** What `npm run bits` plays: every shipped recipe in its toy world, with each of its variants and rewards, and the recipes on files. */
import { readFileSync } from 'node:fs';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { distil } from '../../recipes/distil/recipe.ts';
import { dpo } from '../../recipes/dpo/recipe.ts';
import { recipeFrom } from '../../recipes/from-files.ts';
import { grpo } from '../../recipes/grpo/recipe.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { type OrderedRun, runOf } from '../../recipes/run-order.ts';
import { sft } from '../../recipes/sft/recipe.ts';
import { WORDS, wordsTaskSet } from '../../worlds/words/task-set.ts';
import { FIRST_TRAINED } from '../every-recipe/first-trained.ts';

export interface Line {
  /** `RECIPE`, `RECIPE/VARIANT`, `RECIPE:REWARD` or `RECIPE on questions`. */
  readonly name: string;
  readonly recipe: string;
  readonly run: OrderedRun;
}

/** The policy that distil asks; it has the weights of the start policy. */
export const TEACHER = 'teacher';

/** Tasks a round of the recipes that train on none of four, and of one that trains for each of them many times; the others play four. */
const TASKS: Readonly<Record<string, number>> = { stp: 12, scol: 2 };

/** Recipes that sample with ONNX Runtime here; the others sample with the kernels, in a quarter of the time. */
const WITH_ONNX = ['trio', 'ragen'];

/** A policy has the same name in every line, so that the hashes do not depend on how a run's policy is named by default. */
const run = (
  recipe: Recipe,
  asked: {
    readonly name: string;
    readonly variant?: string;
    readonly rewardFunction?: string;
    readonly rounds?: number;
    readonly tasks?: number;
  },
): OrderedRun => {
  const { name, ...choice } = asked;
  return runOf(registry([recipe]), {
    recipe: recipe.name,
    policy: `bits-${name}`,
    seed: 0,
    rounds: FIRST_TRAINED[name] ?? 2,
    freeze: [],
    tasks: TASKS[name] ?? 4,
    groupSize: 4,
    ...(WITH_ONNX.includes(name) ? {} : { engine: 'kernels' as const }),
    ...choice,
  });
};

/** A recipe as published, then its variants, then its other rewards. */
const shippedLines = (recipe: Recipe): Line[] => {
  const { name } = recipe;
  const line = (suffix: string, choice: { readonly variant?: string; readonly rewardFunction?: string }) => ({
    name: name + suffix,
    recipe: name,
    run: run(recipe, { name, ...choice }),
  });
  return [
    line('', {}),
    ...Object.keys(recipe.variants ?? {}).map((variant) => line(`/${variant}`, { variant })),
    ...Object.keys(recipe.rewards)
      .slice(1)
      .map((rewardFunction) => line(`:${rewardFunction}`, { rewardFunction })),
  ];
};

/** Conversations and pairs over sums that the start policy can write. */
function sums() {
  const rows = readFileSync('examples/tasks/tasks.jsonl', 'utf8').trim().split('\n');
  const tasks = rows.map((row, i) => {
    const { question, answer } = JSON.parse(row) as { question: string; answer: number };
    return {
      messages: [{ role: 'user' as const, content: question }],
      answer: String(answer),
      metadata: { rejected: String(answer + 1) },
      difficulty: null,
      file: 'tasks.jsonl',
      line: i + 1,
    };
  });
  return { sources: [{ weight: 1, tasks: tasks.slice(8) }], heldOut: tasks.slice(0, 8) };
}

/** The recipes over files, each on the example's tasks; the teacher of distil is another copy of the start policy. */
function fileLines(): Line[] {
  const examples = { name: 'bits', start: 'arithmetic-base', ...sums(), settings: {} };
  const questions = {
    ...examples,
    checker: 'number',
    extract: ['answer', 'whole'],
    settings: { maxNew: 32, epochs: 2 },
  };
  const teacher = { policy: TEACHER, version: 0 };
  const made: Readonly<Record<string, Recipe>> = {
    grpo: grpo.make(questions),
    distil: distil.make({ ...questions, settings: { ...questions.settings, teacher } }),
    sft: sft.make(examples),
    dpo: dpo.make(examples),
  };
  return Object.entries(made).map(([name, recipe]) => ({ name, recipe: name, run: run(recipe, { name }) }));
}

/** The recipes on a user's questions: those that are generated for the policy `words`. */
function questionLines(): Line[] {
  const settings = { maxNew: 64, examined: 8, optimizer: { learningRate: 2e-4 } };
  const data = {
    name: 'bits',
    start: WORDS,
    checker: 'auto',
    extract: ['boxed', 'answer', 'whole'],
    settings,
  };
  const questions = { ...data, ...wordsTaskSet() };
  // The generated questions have neither worked solutions nor documents nor pictures, not all their answers are numbers, and `words` writes no verdict on two answers.
  const played = recipes.flatMap(({ name, written }) => {
    if (!written) return [];
    const { data, verbs } = written.needs;
    const isWorked = data.some((datum) =>
      ['solution', 'steps', 'documents', 'pictures', 'frames', 'hopes'].includes(datum),
    );
    return isWorked || verbs.includes('compare') ? [] : [name];
  });
  return played.map((name) => {
    const recipe = recipeFrom({ from: name, data: questions });
    // `words` does not write the scores by which a grader's reward pays.
    const isGraded = shipped.find(name).written!.needs.verbs.includes('rate') && 'gold' in recipe.rewards;
    const choice = isGraded ? { rewardFunction: 'gold' } : {};
    return {
      name: `${name} on questions`,
      recipe: name,
      run: run(recipe, { name, rounds: 2, tasks: name === 'sd-zero' ? 6 : 2, ...choice }),
    };
  });
}

export const allLines = (): Line[] => [...recipes.flatMap(shippedLines), ...fileLines(), ...questionLines()];
