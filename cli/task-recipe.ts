/** Makes a recipe from files of tasks, or from generated questions: the tasks, the settings and what pays as plain data, and the module that every process of a run loads. */
import * as v from 'valibot';
import { wrongInput } from '../core/errors.ts';
import { DATA } from '../core/game/verbs.ts';
import type { FromFiles } from '../core/recipe/from-files.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { withSettings } from '../core/runs/set-path.ts';
import { USUAL_TURNS } from '../core/schema/agent.ts';
import { environmentSetTask } from '../core/schema/openenv.ts';
import { moduleFile } from '../local/mesh/installation.ts';
import { DEFAULT_START_POLICY } from '../local/starts.ts';
import { writeTasks } from '../local/stored-tasks.ts';
import type { HeldOutEpisodes } from '../protocols/held-out-episodes.ts';
import {
  expectDataOf,
  FROM_FILES,
  fromEpisodes,
  fromFiles,
  type MadeFrom,
  replaceablePrompts,
} from '../recipes/from-files.ts';
import type { GrpoData } from '../recipes/grpo/recipe.ts';
import type { PlacedTask } from '../worlds/file/task.ts';
import { dataOf } from '../worlds/questions/game.ts';
import { readTexts } from '../worlds/questions/texts.ts';
import { isWordsPolicy, WORDS } from '../worlds/words/task-set.ts';
import { FILE_RECIPES } from './file-recipes.ts';
import { carriedTasks, TASK_LIMITS, type TaskLimits } from './large-tasks.ts';
import { readJson } from './policy/files.ts';
import { openRecipes } from './recipe-modules.ts';
import { readRewards } from './rewards/read-rewards.ts';
import type { BundledReward } from './rewards/reward-module.ts';
import { parseRewards } from './rewards/reward-option.ts';
import {
  expectAgentOptions,
  expectPaidPython,
  expectToolOptions,
  expectWorldAlone,
  type TaskRecipeOptions,
  type TrainingTaskOptions,
} from './training-task-options.ts';
import { fewHeldOut, trainingTasks } from './training-tasks.ts';
import { writeRecipe, writtenFile } from './written-recipe.ts';

/** A recipe over files of tasks. */
export interface TaskRecipe {
  readonly recipe: Recipe;
  /** Sentences on the tasks that were left out. */
  readonly report: readonly string[];
  /** Is its default reward the weighted sum that the options name? */
  readonly isWeighted: boolean;
  /** The plain data that it is made from; absent where it is another recipe, changed. */
  readonly data?: object;
  /** Writes the module that the run's other processes load, and returns its path. */
  readonly write: (folder: string) => Promise<string>;
}

/** What the questions of the policy `words` are trained with where the options do not say. */
const WORDS_SETTINGS = {
  maxNew: 128,
  examined: 240,
  optimizer: { learningRate: 2e-4, warmup: 4, minibatches: 2 },
};

/** Throws where the option names a reward that the recipe cannot be paid. */
function expectReward(recipe: string, { reads, noSum }: FromFiles, reward: string | undefined): void {
  if (reward === undefined) return;
  if (reads !== 'questions')
    throw wrongInput('run.reward', `Recipe ${recipe} rewards nobody, and --reward ${reward} is given.`, {
      expected: 'no --reward: its files say what is right',
    });
  if (noSum === undefined || !parseRewards(reward)) return;
  throw wrongInput('run.reward', `Recipe ${recipe} takes no sums of rewards: ${noSum}.`, {
    expected: `the name of one of its rewards, or another recipe, such as grpo`,
    next: `Run \`npx rollmesh recipe show ${recipe}\` for the names.`,
  });
}

/** Throws where prompts are given for a recipe that plays its own world, which says them in its own words; null otherwise. */
function expectOwnPrompts({ recipe, prompts }: Pick<TrainingTaskOptions, 'recipe' | 'prompts'>): null {
  if (prompts === undefined) return null;
  throw wrongInput(
    'run.prompts',
    `Without files recipe ${recipe} plays its own world in that world’s words, and --prompts ${prompts} is given.`,
    { expected: '--tasks FILE.jsonl and --policy NAME beside it, or no --prompts' },
  );
}

/** Throws `tasks.size` where the recipe cannot run on tasks that lie in the object store. */
function expectStorable(recipe: string, { notStored }: FromFiles): void {
  if (notStored === undefined) return;
  throw wrongInput('tasks.size', `Recipe ${recipe} takes no files of this size: ${notStored}.`, {
    expected: 'files whose tasks fit into the code of a Worker',
    next: `Train on a part of the file, or choose another --recipe, such as grpo.`,
  });
}

/** Throws where a task is from nowhere that an environment knows: nobody would hold its episodes. */
export function expectSetByEnvironment(environment: string, tasks: readonly PlacedTask[]): void {
  const other = tasks.find((task) => !v.is(environmentSetTask, task));
  if (!other) return;
  throw wrongInput(
    'environment.task',
    `Line ${other.line} of ${other.file} is no task that an environment sets.`,
    {
      expected: 'tasks whose metadata says where they stand in an environment',
      next: `Write the file for --tasks with \`rollmesh environment tasks ${environment}\`.`,
    },
  );
}

/** Throws where nobody would hold the episodes of a task: it is of no environment, though one is named. */
function expectHeld(
  { environment }: TaskRecipeOptions,
  trained: readonly PlacedTask[],
  heldOut: readonly PlacedTask[],
  { heldOutEpisodes }: Asked,
): void {
  if (environment === undefined) return;
  expectSetByEnvironment(environment, trained);
  if (heldOutEpisodes) expectSetByEnvironment(environment, heldOut.slice(0, heldOutEpisodes.tasks));
}

/** How a Worker holds the episodes in an environment, as far as that is not as usual: with other turns it is another run. */
export function heldAs({
  environmentTurns: turns = USUAL_TURNS,
  answerTool,
}: Pick<TaskRecipeOptions, 'environmentTurns' | 'answerTool'>): GrpoData['environment'] {
  const held = {
    ...(turns === USUAL_TURNS ? {} : { turns }),
    ...(answerTool === undefined ? {} : { answerTool }),
  };
  return Object.keys(held).length ? held : undefined;
}

/** What of the settings the command reads, too. */
interface Asked {
  readonly examined?: number;
  readonly heldOutEpisodes?: HeldOutEpisodes;
}

/** Reads what the options name. Throws where files, settings or rewards are wrong. */
async function madeFromFiles(
  name: string,
  from: FromFiles,
  options: TaskRecipeOptions,
  { limits, onEpisodes }: { readonly limits: TaskLimits; readonly onEpisodes: boolean },
): Promise<TaskRecipe> {
  expectReward(name, from, options.reward);
  const onQuestions = from.reads === 'questions';
  if (options.prompts !== undefined && onEpisodes)
    throw wrongInput(
      'run.prompts',
      `Episodes are asked as they come, and --prompts ${options.prompts} is given.`,
      {
        expected: 'no --prompts with --agent or --tools',
      },
    );
  const prompts =
    options.prompts === undefined
      ? undefined
      : readTexts(await readJson(options.prompts), replaceablePrompts(name));
  const settings: Asked = withSettings(
    from.settings,
    options.tasks.length ? {} : WORDS_SETTINGS,
    options.set,
  );
  const tasks = await trainingTasks(from.reads, options);
  const all = tasks.sources.flatMap((source) => source.tasks);
  if (onQuestions) expectDataOf(name, from, all);
  expectHeld(options, all, tasks.heldOut, settings);
  const { examined = Number.POSITIVE_INFINITY } = settings;
  const whatAllHave = () => {
    expectStorable(name, from);
    return onQuestions ? dataOf(all) : [];
  };
  const { objects, report, ...carried } = await carriedTasks(tasks, examined, whatAllHave, limits);
  const { rewards, bundles, modules } = await readRewards(options.reward, all);
  const environment = heldAs(options);
  const data = v.parse(from.data, {
    name: tasks.name,
    ...carried,
    start: options.start,
    ...(onQuestions ? { checker: options.checker, extract: options.extract } : {}),
    settings,
    ...(rewards.length ? { rewards } : {}),
    ...(prompts ? { prompts } : {}),
    ...(options.agent && name === 'grpo' ? { agent: true } : {}),
    ...(environment ? { environment } : {}),
    ...(options.tools ? { tools: options.tools } : {}),
    ...(options.seats ? { seats: options.seats } : {}),
  });
  const recipe = from.make(data, modules);
  return {
    recipe,
    report: [...tasks.report, ...report, ...fewHeldOut(tasks, examined)],
    isWeighted: rewards.length > 0,
    data,
    write: async (folder) => {
      // First, so that whoever finds the module finds its tasks.
      if (objects) await writeTasks({ file: writtenFile(folder, recipe.name) }, objects());
      return writeFromFiles(folder, recipe.name, { from: name, onEpisodes, data }, bundles);
    },
  };
}

/** Writes the module of a recipe from files, and returns its path. */
export const writeFromFiles = (
  folder: string,
  name: string,
  data: MadeFrom,
  bundles: readonly BundledReward[] = [],
): Promise<string> =>
  writeRecipe(folder, {
    name,
    from: 'files of tasks',
    // The same file that the rest of the program has, so that a bundle has it once.
    imports: [`import { recipeFrom } from ${JSON.stringify(moduleFile('recipes/from-files'))};`],
    code: `recipeFrom(data${bundles.length ? ', modules' : ''})`,
    data,
    bundles,
  });

/** A recipe names a shipped start; a run on files names its policy, so that this one is not asked for. */
const START = DEFAULT_START_POLICY;

/**
 * The recipe over the files of tasks, or over generated questions for the policy `words`; null where the options name another one.
 * Nothing is written yet. Throws `wrong-input` where a recipe cannot take files, where there are none or no policy, and what is wrong
 * with the files.
 */
export async function taskRecipe(
  options: TrainingTaskOptions,
  limits = TASK_LIMITS,
): Promise<TaskRecipe | null> {
  const { recipe, tasks: files = [], policy, prompts, world } = options;
  expectAgentOptions(options);
  expectToolOptions(options);
  expectPaidPython(options);
  if (world !== undefined) return expectWorldAlone(options);
  if (prompts !== undefined) replaceablePrompts(recipe);
  const generated = files.length === 0 && isWordsPolicy(policy);
  const isAlone = FILE_RECIPES.some(({ name }) => name === recipe);
  const onEpisodes = recipe !== 'grpo' && (options.agent === true || options.tools !== undefined);
  const found = onEpisodes ? fromEpisodes(recipe) : FROM_FILES.get(recipe);
  // Without files a recipe with a world of its own plays there.
  if (files.length === 0 && !isAlone && !onEpisodes && !(generated && found?.reads === 'questions'))
    return expectOwnPrompts(options);
  // A name that no recipe has is said first.
  const from = found ?? fromFiles((await openRecipes([recipe])).named[0]!);
  if (files.length === 0 && !(generated && from.reads === 'questions'))
    throw wrongInput('run.tasks', `Recipe ${recipe} has no tasks.`, {
      expected:
        from.reads === 'questions'
          ? 'files of questions with their answers'
          : `files of ${from.needs.map((datum) => DATA[datum]).join(' and ')}`,
      next: `Name them with --tasks FILE.jsonl (repeat for several)${from.reads === 'questions' ? `, or train --policy ${WORDS}, for which questions are generated` : ''}.`,
    });
  if (policy === undefined)
    throw wrongInput('run.policy', 'No policy is named that is to be trained on the files.', {
      expected: '--policy NAME, a policy in the state folder',
      next: 'Import one with `npx rollmesh policy import DIR --name NAME`; `models/arithmetic-base` is a small one that knows sums.',
    });
  return madeFromFiles(
    recipe,
    from,
    { ...options, tasks: files, start: files.length ? START : policy },
    { limits, onEpisodes },
  );
}
