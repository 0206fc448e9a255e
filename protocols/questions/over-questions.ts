/** A recipe that is written over games, on questions of files: plain data from which every process makes the same recipe. */
import * as v from 'valibot';
import { CHECKERS, findChecker } from '../../core/checkers/registry.ts';
import { wrongInput } from '../../core/errors.ts';
import { DATA, type Datum } from '../../core/game/verbs.ts';
import type { FromFiles, RewardModules } from '../../core/recipe/from-files.ts';
import { type Recipe, type RecipeOver, saidElsewhere } from '../../core/recipe/recipe.ts';
import { listProgram } from '../../worlds/file/list-program-checker.ts';
import { objectsOfTasks, tasksHere, traitsOf } from '../../worlds/file/stored-tasks.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { servedQuestions } from '../../worlds/hosted/answers.ts';
import { firstLack, questionGame } from '../../worlds/questions/game.ts';
import { questionTitle } from '../../worlds/questions/task-text.ts';
import { readTexts } from '../../worlds/questions/texts.ts';
import { parseQuestion } from '../../worlds/words/parse-question.ts';
import { isWordsPolicy } from '../../worlds/words/task-set.ts';
import { withCurriculum } from './curriculum.ts';
import { dataName, questionEntries, questionSettings } from './data.ts';
import { paidBySum } from './paid-by-sum.ts';
import { rewardSum, sumOf } from './reward-data.ts';

/** What `--set` may change: the method is fixed otherwise. */
const settings = v.strictObject({
  maxNew: questionSettings.maxNew,
  examined: questionSettings.examined,
  optimizer: questionSettings.optimizer,
  adapter: questionSettings.adapter,
  curriculum: questionSettings.curriculum,
});

const data = v.strictObject({
  ...questionEntries,
  settings,
  /** The default reward, where it is a weighted sum. */
  rewards: v.exactOptional(rewardSum),
  /** Texts in the place of the recipe's prompts, by verb. */
  prompts: v.exactOptional(v.record(v.string(), v.string())),
});
type QuestionData = v.InferOutput<typeof data>;

/** Where a file has it. */
const FIELD_OF: Readonly<Partial<Record<Datum, string>>> = {
  solution: 'a field "solution"',
  steps: 'a field "solution" of several lines',
  documents: 'a field "documents", a list of texts,',
  pictures: 'a field "images" of two files that differ',
  frames: 'a field "images" of three files or more',
  hopes: 'a number as the answer, or a field "hoped" that differs from it,',
  users: 'a field "needs" like [{"wants": "how long it takes", "words": ["minutes", "hours"]}], or none,',
};

/** Throws `tasks.lacks` where a question has not what the recipe needs. `others`: the recipes that run on what all questions have. */
export function expectData(
  recipe: string,
  needs: readonly Datum[],
  tasks: readonly PlacedTask[],
  others: () => readonly string[] = () => [],
): void {
  const lack = firstLack(needs, tasks);
  if (!lack) return;
  const { datum, task } = lack;
  const run = others();
  throw wrongInput(
    'tasks.lacks',
    `Recipe ${recipe} needs ${DATA[datum]}, and line ${task.line} of ${task.file} has none.`,
    {
      expected: `${FIELD_OF[datum] ?? 'other tasks'} in every line`,
      next: `Correct the file, or choose another --recipe${run.length ? `: ${run.join(', ')} run on the files as they are` : ''}.`,
    },
  );
}

const notStored = ({ needs, readsAllTasks }: RecipeOver): string | undefined =>
  needs.data.includes('documents') ? 'it searches the documents of all questions' : readsAllTasks;

/** A recipe and how it is written over games. */
export type Written = Recipe & Required<Pick<Recipe, 'written'>>;

export const isWritten = (recipe: Recipe): recipe is Written => recipe.written !== undefined;

export function overQuestions(shipped: Written): FromFiles {
  const { needs, ownReward } = shipped.written;
  const why = notStored(shipped.written);
  return {
    reads: 'questions',
    needs: needs.data,
    settings,
    data,
    make: (given, modules) => recipeOf(shipped, v.parse(data, given), modules),
    prompts: needs,
    ...(ownReward === undefined ? {} : { noSum: ownReward }),
    ...(why === undefined ? {} : { notStored: why }),
  };
}

function recipeOf(shipped: Written, given: QuestionData, modules: RewardModules = {}): Recipe {
  const { needs, over, elsewhere, compared, ownOrder } = shipped.written;
  const { maxNew, examined, optimizer, adapter, curriculum } = given.settings;
  const checker = findChecker(given.checker, [...CHECKERS, listProgram]);
  const questions = {
    tasks: { sources: given.sources, heldOut: given.heldOut },
    checker,
    extract: given.extract,
  };
  if (!traitsOf(given)) expectData(shipped.name, needs.data, tasksHere(given));
  const game = questionGame(
    {
      ...questions,
      name: given.name,
      maxNew,
      examined,
      texts: given.prompts && readTexts(given.prompts, needs),
      // Only the generated questions start from these policies; with files the run names its policy.
      ...(isWordsPolicy(given.start) ? { parseProposal: parseQuestion } : {}),
    },
    needs,
  );
  const { tasks, groupSize } = shipped;
  const own = over(game);
  const made: Recipe = {
    ...saidElsewhere({ ...own, startPolicy: given.start, tasks, groupSize }, elsewhere),
    describe: { ...own.describe, title: questionTitle },
  };
  const paid = given.rewards
    ? paidBySum(made, { checker, extract: given.extract }, sumOf(given.rewards, modules))
    : made;
  if (curriculum && ownOrder !== undefined)
    throw wrongInput('run.setting', `Recipe ${shipped.name} takes no curriculum: ${ownOrder}.`, {
      expected: 'no --set curriculum.unanimousWeight with this recipe',
    });
  const recipe = curriculum ? withCurriculum(paid, curriculum, given.rewards ? undefined : compared) : paid;
  const sets = Object.entries(recipe.sets).map(([name, set]) => [
    name,
    {
      ...set,
      optimizer: set.optimizer && { ...set.optimizer, ...optimizer },
      // A set that a head reads is trained whole, without adapters. One that averages others has adapters as they do.
      ...(adapter && !set.head ? { adapter } : {}),
    },
  ]);
  const name = dataName(shipped.name, { recipe: shipped.name, ...given });
  return {
    ...recipe,
    name,
    called: `${shipped.name} on ${given.name}`,
    hosted: servedQuestions(name, questions),
    ...objectsOfTasks(given),
    startPolicy: given.start,
    sets: Object.fromEntries(sets),
    ...(recipe.method && {
      method: {
        ...recipe.method,
        setting: `Questions and reference answers come from files (${given.name}); the policy is asked in messages by its own chat template. A solution counts as one step, and a verifier answers yes or no to the whole.`,
      },
    }),
  };
}
