/**
 * Recipes on questions of files as plain data, from which every process makes the same recipe: grpo, as `recipes/grpo` defines it, and those recipes
 * whose method needs nothing of a task but a question, a checker, and a policy that can be asked in messages.
 */
import * as v from 'valibot';
import { CHECKERS, findChecker } from '../core/checkers/registry.ts';
import { wrongInput } from '../core/errors.ts';
import { DATA, type Datum } from '../core/game/verbs.ts';
import { deriveId } from '../core/random.ts';
import { type Recipe, type RecipeOver, saidElsewhere } from '../core/recipe/recipe.ts';
import type { BoundedModule } from '../core/recipe/reward-function.ts';
import { withCurriculum } from '../protocols/questions/curriculum.ts';
import { questionEntries, questionSettings } from '../protocols/questions/data.ts';
import { paidBySum } from '../protocols/questions/paid-by-sum.ts';
import { rewardSum, sumOf } from '../protocols/questions/reward-data.ts';
import { listProgram } from '../worlds/file/list-program-checker.ts';
import { objectsOfTasks, tasksHere, traitsOf } from '../worlds/file/stored-tasks.ts';
import type { PlacedTask } from '../worlds/file/task.ts';
import { servedQuestions } from '../worlds/hosted/answers.ts';
import { dataOf, firstLack, questionGame } from '../worlds/questions/game.ts';
import { questionTitle } from '../worlds/questions/task-text.ts';
import { readTexts } from '../worlds/questions/texts.ts';
import { parseQuestion } from '../worlds/words/parse-question.ts';
import { isWordsPolicy } from '../worlds/words/task-set.ts';
import { recipes, shipped } from './index.ts';

/** The recipes that are written over any game. */
const WRITTEN = recipes.flatMap(({ name, written }) => (written ? [name] : []));
export const QUESTION_RECIPES: readonly string[] = WRITTEN;

export const isQuestionRecipe = (name: string): boolean => WRITTEN.includes(name);

const writtenOf = (recipe: string): RecipeOver => {
  const { written } = shipped.find(recipe);
  if (written) return written;
  throw wrongInput('run.tasks', `Recipe ${recipe} takes no files of tasks.`, {
    expected: `one of ${QUESTION_RECIPES.join(', ')}`,
  });
};

/** Throws `run.tasks` with what the recipe lacks on files of questions. */
export function refuseQuestions({ name, needsOfTasks }: Pick<Recipe, 'name' | 'needsOfTasks'>): never {
  throw wrongInput(
    'run.tasks',
    `Recipe ${name} takes no files of tasks${needsOfTasks ? `: it needs ${needsOfTasks.which} (${needsOfTasks.datum})` : ''}.`,
    {
      expected: `one of ${['grpo', 'distil', ...QUESTION_RECIPES].join(', ')}, which train on questions, or sft, dpo and spin, which train on conversations and pairs`,
      next: 'Choose another --recipe, or leave the files out.',
    },
  );
}

/** Throws `tasks.lacks` where a question has not what the recipe needs. */
export function expectData(recipe: string, tasks: readonly PlacedTask[]): void {
  const lack = firstLack(writtenOf(recipe).needs.data, tasks);
  if (!lack) return;
  const { datum, task } = lack;
  const has = dataOf(tasks);
  const others = QUESTION_RECIPES.filter((name) =>
    writtenOf(name).needs.data.every((one) => has.includes(one)),
  );
  throw wrongInput(
    'tasks.lacks',
    `Recipe ${recipe} needs ${DATA[datum]}, and line ${task.line} of ${task.file} has none.`,
    {
      expected: `${FIELD_OF[datum] ?? 'other tasks'} in every line`,
      next: `Correct the file, or choose another --recipe: ${['grpo', ...others].join(', ')} run on the files as they are.`,
    },
  );
}

/** Throws `tasks.size` where the recipe cannot run on tasks that lie in the object store. */
export function expectStorable(recipe: string): void {
  const { needs, readsAllTasks } = writtenOf(recipe);
  const why = needs.data.includes('documents') ? 'it searches the documents of all questions' : readsAllTasks;
  if (why === undefined) return;
  throw wrongInput('tasks.size', `Recipe ${recipe} takes no files of this size: ${why}.`, {
    expected: 'files whose tasks fit into the code of a Worker',
    next: `Train on a part of the file, or choose another --recipe, such as grpo.`,
  });
}

/** Where a file has it. */
const FIELD_OF: Readonly<Partial<Record<Datum, string>>> = {
  solution: 'a field "solution"',
  steps: 'a field "solution" of several lines',
  documents: 'a field "documents", a list of texts,',
  users: 'a field "needs" like [{"wants": "how long it takes", "words": ["minutes", "hours"]}], or none,',
};

/** The prompts of a recipe on questions. Throws `run.prompts` where it is not written over games. */
export function needsOnQuestions(recipe: string): RecipeOver['needs'] {
  if (isQuestionRecipe(recipe)) return writtenOf(recipe).needs;
  throw wrongInput('run.prompts', `Recipe ${recipe} has no prompts that can be replaced.`, {
    expected: `a recipe that asks a policy more than the questions of files, such as ${QUESTION_RECIPES.slice(0, 3).join(', ')}`,
    next: 'With --prompts, `npx rollmesh recipe show NAME` prints those that a recipe has.',
  });
}

const ownRewardOf = (recipe: string) => writtenOf(recipe).ownReward;

/** Throws `run.reward` where a weighted sum of rewards cannot pay the recipe's solver. */
export function expectSum(recipe: string): void {
  const own = ownRewardOf(recipe);
  if (own === undefined) return;
  throw wrongInput('run.reward', `Recipe ${recipe} takes no sums of rewards: ${own}.`, {
    expected: `the name of one of its rewards, or one of ${['grpo', ...QUESTION_RECIPES.filter((name) => !ownRewardOf(name))].join(', ')}`,
    next: 'Run `npx rollmesh recipe show NAME` for the names.',
  });
}

/** Throws `run.setting` where the recipe cannot draw its questions by a curriculum. */
function expectCurriculum(recipe: string): void {
  const own = writtenOf(recipe).ownOrder;
  if (own === undefined) return;
  throw wrongInput('run.setting', `Recipe ${recipe} takes no curriculum: ${own}.`, {
    expected: 'no --set curriculum.unanimousWeight with this recipe',
  });
}

/** What `--set` may change of a recipe whose method is fixed otherwise. */
export const questionRecipeSettings = v.strictObject({
  maxNew: questionSettings.maxNew,
  examined: questionSettings.examined,
  optimizer: questionSettings.optimizer,
  adapter: questionSettings.adapter,
  curriculum: questionSettings.curriculum,
});

export const questionRecipeData = v.strictObject({
  recipe: v.picklist(WRITTEN),
  ...questionEntries,
  settings: questionRecipeSettings,
  /** The default reward, where it is a weighted sum. */
  rewards: v.exactOptional(rewardSum),
  /** Texts in the place of the recipe's prompts, by verb. */
  prompts: v.exactOptional(v.record(v.string(), v.string())),
});
export type QuestionRecipeData = v.InferOutput<typeof questionRecipeData>;

/** The most characters of the name that its environment is served under, and those that tell the recipe's data from other data. */
const NAME = 32;
const TOLD_BY = 10;

/** The name of a recipe that is made from data: the same data gives the same name. */
export function dataName(recipe: string, data: object): string {
  const left = NAME - recipe.length - 1;
  return `${recipe}-${deriveId(recipe, JSON.stringify(data)).slice(0, Math.min(TOLD_BY, left))}`;
}

/**
 * `modules`: the reward modules that the data names, by their hashes. Throws where the data does not fit the schema, because another version of
 * rollmesh or a person wrote it.
 */
export function questionRecipeFrom(
  given: unknown,
  modules: Readonly<Record<string, BoundedModule>> = {},
): Recipe {
  const data = v.parse(questionRecipeData, given);
  const { maxNew, examined, optimizer, adapter, curriculum } = data.settings;
  const checker = findChecker(data.checker, [...CHECKERS, listProgram]);
  const questions = {
    tasks: { sources: data.sources, heldOut: data.heldOut },
    checker,
    extract: data.extract,
  };
  const traits = traitsOf(data);
  if (traits) expectStorable(data.recipe);
  else expectData(data.recipe, tasksHere(data));
  const { needs, over, elsewhere, compared } = writtenOf(data.recipe);
  const game = questionGame(
    {
      ...questions,
      name: data.name,
      maxNew,
      examined,
      texts: data.prompts && readTexts(data.prompts, needs),
      // Only the generated questions start from these policies; with files the run names its policy.
      ...(isWordsPolicy(data.start) ? { parseProposal: parseQuestion } : {}),
    },
    needs,
  );
  const { tasks, groupSize } = shipped.find(data.recipe);
  const own = over(game);
  const made: Recipe = {
    ...saidElsewhere({ ...own, startPolicy: data.start, tasks, groupSize }, elsewhere),
    describe: { ...own.describe, title: questionTitle },
  };
  if (data.rewards) expectSum(data.recipe);
  const paid = data.rewards
    ? paidBySum(made, { checker, extract: data.extract }, sumOf(data.rewards, modules))
    : made;
  if (curriculum) expectCurriculum(data.recipe);
  const recipe = curriculum ? withCurriculum(paid, curriculum, data.rewards ? undefined : compared) : paid;
  const sets = Object.entries(recipe.sets).map(([name, set]) => [
    name,
    {
      ...set,
      optimizer: set.optimizer && { ...set.optimizer, ...optimizer },
      // A set that a head reads is trained whole, without adapters. One that averages others has adapters as they do.
      ...(adapter && !set.head ? { adapter } : {}),
    },
  ]);
  const name = dataName(data.recipe, data);
  return {
    ...recipe,
    name,
    called: `${data.recipe} on ${data.name}`,
    hosted: servedQuestions(name, questions),
    ...objectsOfTasks(data),
    startPolicy: data.start,
    sets: Object.fromEntries(sets),
    ...(recipe.method && {
      method: {
        ...recipe.method,
        setting: `Questions and reference answers come from files (${data.name}); the policy is asked in messages by its own chat template. A solution counts as one step, and a verifier answers yes or no to the whole.`,
      },
    }),
  };
}
