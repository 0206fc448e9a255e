/** Makes a recipe from files of tasks: reads and checks them, splits them, and writes a module that every process of a run loads. */
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../core/errors.ts';
import { DATA } from '../core/game/verbs.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import type { BoundedModule } from '../core/recipe/reward-function.ts';
import { withSettings } from '../core/runs/set-path.ts';
import { USUAL_TURNS } from '../core/schema/agent.ts';
import { environmentSetTask } from '../core/schema/openenv.ts';
import { FEWEST_QUESTIONS, fewWords } from '../core/statistics/change.ts';
import { moduleFile } from '../local/mesh/installation.ts';
import { ensureSecret } from '../local/mesh/secrets.ts';
import { DEFAULT_START_POLICY } from '../local/starts.ts';
import { writeTasks } from '../local/stored-tasks.ts';
import { distilData, distilSettings } from '../recipes/distil/from-data.ts';
import { dpoSettings } from '../recipes/dpo/recipe.ts';
import { type GrpoData, grpoData, grpoSettings } from '../recipes/grpo/from-data.ts';
import { recipes } from '../recipes/index.ts';
import {
  episodeRecipeData,
  episodeRecipeFrom,
  episodeRecipeSettings,
  expectEpisodeRecipe,
} from '../recipes/on-episodes.ts';
import {
  expectData,
  expectStorable,
  expectSum,
  isQuestionRecipe,
  needsOnQuestions,
  questionRecipeData,
  questionRecipeFrom,
  questionRecipeSettings,
  refuseQuestions,
} from '../recipes/on-questions.ts';
import { rewardModelSettings } from '../recipes/reward-model/recipe.ts';
import { sftSettings } from '../recipes/sft/recipe.ts';
import { spinSettings } from '../recipes/spin/from-data.ts';
import { exampleIdentity, readConversations, readPairs, readRated } from '../worlds/file/read-examples.ts';
import type { PlacedTask } from '../worlds/file/task.ts';
import { type HeldOutBy, reportLines, type TaskSet, taskSet } from '../worlds/file/task-set.ts';
import { dataOf } from '../worlds/questions/game.ts';
import { readTexts } from '../worlds/questions/texts.ts';
import { isWordsPolicy, WORDS, wordsTaskSet } from '../worlds/words/task-set.ts';
import { FILE_RECIPES, type FileRecipe, FROM_FILES } from './file-recipes.ts';
import { type CarriedTasks, carriedTasks, TASK_LIMITS, type TaskLimits } from './large-tasks.ts';
import { readJson } from './policy/files.ts';
import {
  expectRoom,
  imagesBeside,
  type LeftOut,
  leftOutLines,
  readTaskFiles,
  taskFileBytes,
  taskFileSettings,
} from './policy/task-file-options.ts';
import { lackedFor } from './recipe/runs-on.ts';
import { openRecipes } from './recipe-modules.ts';
import { type BundledReward, bundleReward, loadReward, tryReward } from './rewards/reward-module.ts';
import { parseRewards } from './rewards/reward-option.ts';
import { readRubric } from './rewards/rubric-file.ts';
import {
  expectAgentOptions,
  expectToolOptions,
  expectWorldAlone,
  type TaskRecipeOptions,
  type TrainingTaskOptions,
} from './training-task-options.ts';

/** The recipes that are written over games, from data. */
const ON_QUESTIONS = {
  from: questionRecipeFrom,
  name: 'questionRecipeFrom',
  module: 'recipes/on-questions',
} as const;

/** The recipes on episodes that agents hold, from data. */
const ON_EPISODES = {
  from: episodeRecipeFrom,
  name: 'episodeRecipeFrom',
  module: 'recipes/on-episodes',
} as const;

/** Parses a path with a weight: "FILE@3" is FILE with the weight 3. */
export function weighted(text: string): { path: string; weight: number } {
  const at = /^(.+)@(\d+(?:\.\d+)?)$/.exec(text);
  const weight = at ? Number(at[2]) : 1;
  if (weight > 0) return { path: at ? at[1]! : text, weight };
  throw wrongInput('tasks.weight', `The file ${text} has the weight 0.`, {
    expected: 'a weight above 0, as in FILE@3',
    next: 'Leave the file out instead.',
  });
}

/** The file of held-out tasks; none where a share is held out. */
const heldOutFiles = ({ heldOut }: Pick<TaskRecipeOptions, 'heldOut'>): string[] =>
  heldOut.trim() === '' || Number.isNaN(Number(heldOut)) ? [heldOut] : [];

async function heldOutBy(
  { heldOut, splitBy }: TaskRecipeOptions,
  read: (path: string) => Promise<PlacedTask[]>,
): Promise<HeldOutBy> {
  const [file] = heldOutFiles({ heldOut });
  if (file !== undefined) return { tasks: await read(file) };
  const share = Number(heldOut);
  if (share > 0 && share < 1) return { share, ...(splitBy === undefined ? {} : { by: splitBy }) };
  throw wrongInput('tasks.held-out', `A share of ${heldOut} cannot be held out.`, {
    expected: 'a share between 0 and 1, or a file of held-out tasks',
  });
}

/** Makes the secret with which requests to a service are signed, where there is none yet. */
function expectRewardSecret(url: string): void {
  if (ensureSecret('.', 'REWARD_SECRET'))
    console.error(
      `A new REWARD_SECRET is in .dev.vars: it signs the requests to ${url}, which can check them by it (docs/tasks.md).`,
    );
}

/** The rewards of the option as data, rubrics included, and their modules, each tried on some of the tasks. */
async function readRewards(option: string | undefined, tasks: readonly PlacedTask[]) {
  const rewards = [];
  const bundles: BundledReward[] = [];
  const modules: Record<string, BoundedModule> = {};
  for (const { name, weight, from } of (option === undefined ? null : parseRewards(option)) ?? [])
    if ('module' in from) {
      const bundle = await bundleReward(from.module);
      const module = await loadReward(from.module, bundle);
      tryReward(from.module, module, tasks);
      bundles.push(bundle);
      modules[bundle.hash] = module;
      rewards.push({ name, weight, from: { module: bundle.hash } });
    } else if ('rubric' in from)
      rewards.push({ name, weight, from: { ...from, rubric: await readRubric(from.rubric) } });
    else {
      if ('url' in from) expectRewardSecret(from.url);
      rewards.push({ name, weight, from });
    }
  return { rewards, bundles, modules };
}

/** The tasks of a recipe, and what is said of them. */
type NamedTasks = Pick<TaskSet, 'sources' | 'heldOut'> & {
  readonly name: string;
  readonly report: readonly string[];
};

/** Throws the fault of a file; where it is of another kind than the recipe reads, with the recipes that run on it as it is. */
async function refuseLines(fault: unknown, path: string, options: TaskRecipeOptions): Promise<never> {
  if (!(fault instanceof RollmeshError && fault.code === 'tasks.lines')) throw fault;
  const all = [...recipes, ...FILE_RECIPES];
  const lacked = await lackedFor(all, path, options).catch(() => null);
  const runs = all.filter((recipe) => lacked?.get(recipe)?.length === 0).map(({ name }) => name);
  if (runs.length === 0) throw fault;
  throw wrongInput(fault.code, fault.what, {
    ...(fault.expected === undefined ? {} : { expected: fault.expected }),
    next: `${fault.next} Or choose another --recipe: ${runs.join(', ')} run on the file as it is.`,
    cause: fault,
  });
}

/** The tasks of the files that the options name. `identity`: what makes a task a repeat of another, as for `taskSet`. */
async function fileTasks(
  options: TaskRecipeOptions,
  readFile: (path: string) => Promise<PlacedTask[]>,
  identity?: (task: PlacedTask) => string,
): Promise<NamedTasks> {
  const files = options.tasks.map(weighted);
  await expectRoom([...files.map(({ path }) => path), ...heldOutFiles(options)]);
  const read = await Promise.all(
    files.map(async ({ path, weight }) => ({
      weight,
      tasks: await readFile(path).catch((fault: unknown) => refuseLines(fault, path, options)),
    })),
  );
  const { report, sources, heldOut } = taskSet(read, await heldOutBy(options, readFile), identity);
  return {
    name: files.map(({ path }) => basename(path)).join(', '),
    sources: sources.filter(({ tasks }) => tasks.length > 0),
    heldOut,
    report: reportLines(report),
  };
}

/** Said before a run whose held-out questions cannot show whether it changed anything; nothing where there are enough. */
function fewHeldOut({ heldOut }: Pick<NamedTasks, 'heldOut'>, { examined }: Examining): string[] {
  const n = Math.min(heldOut.length, examined ?? heldOut.length);
  return n < FEWEST_QUESTIONS
    ? [`${fewWords(n)}: name a file of more by --held-out FILE, or hold out a larger share of the tasks.`]
    : [];
}

/** Settings that say how many held-out questions are asked at most. */
interface Examining {
  readonly examined?: number | undefined;
}

/** What the questions of the policy `words` are trained with where the options do not say. */
const WORDS_SETTINGS = {
  maxNew: 128,
  examined: 240,
  optimizer: { learningRate: 2e-4, warmup: 4, minibatches: 2 },
};

const generatedTasks = (): NamedTasks => ({ name: `${WORDS}, generated`, report: [], ...wordsTaskSet() });

/**
 * What every recipe on questions is made from: those of the files, or generated ones for the policy `words`, and the settings. `expect` throws where a
 * recipe lacks something in the questions, or cannot run on large files. `all` has every task for training, `heldOut` every other one.
 */
async function readQuestions<S extends Examining>(
  schema: v.GenericSchema<unknown, S>,
  options: TaskRecipeOptions,
  limits: TaskLimits,
  expect: Partial<Record<'tasks' | 'storable', (tasks: readonly PlacedTask[]) => void>> = {},
) {
  const { tasks, set, start, checker, extract } = options;
  const isGenerated = tasks.length === 0;
  const leftOut: LeftOut[] = [];
  const settings = withSettings(schema, isGenerated ? WORDS_SETTINGS : {}, set);
  const questions = isGenerated
    ? generatedTasks()
    : await fileTasks(options, (path) => readTaskFiles([path], taskFileSettings(options, leftOut)));
  const all = questions.sources.flatMap((source) => source.tasks);
  expect.tasks?.(all);
  const { examined = Number.POSITIVE_INFINITY } = settings;
  const whatAllHave = () => {
    expect.storable?.(all);
    return dataOf(all);
  };
  const carried = await carriedTasks(questions, examined, whatAllHave, limits);
  const { objects, report: stored, ...placed } = carried;
  const few = fewHeldOut(questions, settings);
  return {
    data: { name: questions.name, ...placed, start, checker, extract, settings },
    all,
    heldOut: questions.heldOut,
    with: { report: [...leftOutLines(leftOut), ...questions.report, ...stored, ...few], objects },
  };
}

/** Throws where the options name a sum of rewards. */
function expectNoSum(recipe: string, { reward }: Pick<TaskRecipeOptions, 'reward'>): void {
  if (reward === undefined || !parseRewards(reward)) return;
  throw wrongInput('run.reward', `Recipe ${recipe} takes no sums of rewards.`, {
    expected: 'the name of one of its rewards, or recipe grpo',
    next: 'Run `npx rollmesh recipe show NAME` for the names.',
  });
}

/** A recipe that is written over games, on the questions. */
async function questionRecipe(
  recipe: string,
  options: TaskRecipeOptions,
  limits: TaskLimits,
): Promise<TaskRecipe> {
  if (options.reward !== undefined && parseRewards(options.reward)) expectSum(recipe);
  const prompts = await promptsOf(recipe, options);
  const questions = await readQuestions(questionRecipeSettings, options, limits, {
    tasks: (all) => expectData(recipe, all),
    storable: () => expectStorable(recipe),
  });
  const { rewards, ...read } = await readRewards(options.reward, questions.all);
  const data = v.parse(questionRecipeData, {
    recipe,
    ...questions.data,
    ...(rewards.length ? { rewards } : {}),
    ...(prompts ? { prompts } : {}),
  });
  return made(ON_QUESTIONS, data, { ...questions.with, ...read, isWeighted: rewards.length > 0 });
}

/** The texts of `--prompts`, checked; undefined without the option. */
async function promptsOf(recipe: string, { prompts: path }: Pick<TaskRecipeOptions, 'prompts'>) {
  if (path === undefined) return undefined;
  const needs = needsOnQuestions(recipe);
  return readTexts(await readJson(path), needs);
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

/** The recipe `distil` over the files, or over generated questions for the policy `words`. */
async function distilRecipe(options: TaskRecipeOptions, limits: TaskLimits): Promise<TaskRecipe> {
  expectNoSum(DISTIL, options);
  const questions = await readQuestions(distilSettings, options, limits);
  return made(FROM_FILES.distil, v.parse(distilData, questions.data), questions.with);
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

/** Throws where nobody would hold the episodes of a task: it is of no environment, though one is named. */
function expectHeld(
  { environment }: TaskRecipeOptions,
  { all, heldOut, data: { settings } }: Awaited<ReturnType<typeof readEpisodes>>,
): void {
  if (environment === undefined) return;
  expectSetByEnvironment(environment, all);
  if (settings.heldOutEpisodes)
    expectSetByEnvironment(environment, heldOut.slice(0, settings.heldOutEpisodes.tasks));
}

const readEpisodes = <S extends Examining & Pick<GrpoData['settings'], 'heldOutEpisodes'>>(
  schema: v.GenericSchema<unknown, S>,
  options: TaskRecipeOptions,
  limits: TaskLimits,
) => readQuestions(schema, options, limits);

/** Another recipe than grpo over episodes that agents hold. */
async function episodeRecipe(
  recipe: string,
  options: TaskRecipeOptions,
  limits: TaskLimits,
): Promise<TaskRecipe> {
  const questions = await readEpisodes(episodeRecipeSettings, options, limits);
  expectHeld(options, questions);
  const environment = heldAs(options);
  const data = v.parse(episodeRecipeData, {
    recipe,
    ...questions.data,
    ...(environment ? { environment } : {}),
    ...(options.tools ? { tools: options.tools } : {}),
  });
  return made(ON_EPISODES, data, questions.with);
}

/** The recipe `grpo` over the files, or over generated questions for the policy `words`. */
async function grpoRecipe(options: TaskRecipeOptions, limits: TaskLimits): Promise<TaskRecipe> {
  const questions = await readEpisodes(grpoSettings, options, limits);
  expectHeld(options, questions);
  const { rewards, ...read } = await readRewards(options.reward, questions.all);
  const environment = heldAs(options);
  const data = v.parse(grpoData, {
    ...questions.data,
    ...(rewards.length ? { rewards } : {}),
    ...(options.agent ? { agent: true } : {}),
    ...(environment ? { environment } : {}),
    ...(options.tools ? { tools: options.tools } : {}),
    ...(options.seats ? { seats: options.seats } : {}),
  });
  return made(FROM_FILES.grpo, data, { ...questions.with, ...read, isWeighted: rewards.length > 0 });
}

/** What a recipe's data were read with. */
interface ReadWith extends Pick<TaskRecipe, 'report'>, Partial<Pick<TaskRecipe, 'isWeighted'>> {
  readonly bundles?: readonly BundledReward[];
  /** The reward modules by their hashes. */
  readonly modules?: Readonly<Record<string, BoundedModule>>;
  /** The objects that hold the tasks, where the data have only their names. */
  readonly objects?: CarriedTasks['objects'] | undefined;
}

/** The recipe that a function of this program makes from data. */
export function made(
  maker: Omit<FileRecipe, 'needs'>,
  data: object,
  { report, isWeighted = false, bundles = [], modules, objects }: ReadWith,
): TaskRecipe {
  const recipe = maker.from(data, modules);
  return {
    recipe,
    report,
    isWeighted,
    data,
    write: async (folder) => {
      const file = join(resolve(folder), `${recipe.name}.mjs`);
      // First, so that whoever finds the module finds its tasks.
      if (objects) await writeTasks({ file }, objects());
      return writeRecipe(file, maker, data, bundles);
    },
  };
}

/** Writes the recipe's module and returns its path. */
async function writeRecipe(
  file: string,
  maker: Omit<FileRecipe, 'needs'>,
  data: object,
  bundles: readonly BundledReward[],
): Promise<string> {
  const into = dirname(file);
  await mkdir(into, { recursive: true });
  const rewardFile = ({ hash }: BundledReward) => `reward-${hash}.mjs`;
  for (const bundle of bundles) await writeFile(join(into, rewardFile(bundle)), bundle.text);
  const named = bundles.map(({ hash }, i) => `'${hash}': reward${i}`).join(', ');
  const modules = bundles.length ? `, { ${named} }` : '';
  const lines = [
    '/** Written by rollmesh from files of tasks: do not edit. */',
    // The same file that the rest of the program has, so that a bundle has it once.
    `import { ${maker.name} } from ${JSON.stringify(moduleFile(maker.module))};`,
    ...bundles.map((bundle, i) => `import reward${i} from './${rewardFile(bundle)}';`),
    '',
    // The data is parsed as JSON: in an object literal a key such as __proto__ would mean something else.
    `export default ${maker.name}(JSON.parse(${JSON.stringify(JSON.stringify(data))})${modules});`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}

/** The recipes over examples: how their files are read, and their settings. */
const EXAMPLES = {
  sft: { read: readConversations, settings: sftSettings },
  dpo: { read: readPairs, settings: dpoSettings },
  'reward-model': { read: readRated, settings: rewardModelSettings },
  spin: { read: readConversations, settings: spinSettings },
} as const;
type ExampleRecipe = keyof typeof EXAMPLES;
const isExampleRecipe = (recipe: string): recipe is ExampleRecipe => Object.hasOwn(EXAMPLES, recipe);

/** The recipe over examples of the files. Throws where the files or the settings are wrong. */
async function exampleRecipe(
  kind: ExampleRecipe,
  options: TaskRecipeOptions,
  limits: TaskLimits,
): Promise<TaskRecipe> {
  const { read, settings } = EXAMPLES[kind];
  if (options.reward !== undefined)
    throw wrongInput(
      'run.reward',
      `Recipe ${kind} rewards nobody, and --reward ${options.reward} is given.`,
      {
        expected: 'no --reward: its files say what is right',
      },
    );
  const readFile = async (path: string) =>
    read(basename(path), await taskFileBytes(path), options.system, imagesBeside(path));
  const { report, ...set } = await fileTasks(options, readFile, exampleIdentity);
  const asked = withSettings<Examining>(settings, {}, options.set);
  const { examined = Number.POSITIVE_INFINITY } = asked;
  const { objects, report: stored, ...tasks } = await carriedTasks(set, examined, () => [], limits);
  const data = { name: set.name, ...tasks, start: options.start, settings: asked };
  return made(FROM_FILES[kind], data, {
    report: [...report, ...stored, ...fewHeldOut(set, asked)],
    objects,
  });
}

/** The recipe that learns from another policy. */
const DISTIL = 'distil';

/** A recipe names a shipped start; a run on files names its policy, so that this one is not asked for. */
const START = DEFAULT_START_POLICY;

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

/**
 * The recipe over the files of tasks, or over generated questions for the policy `words`; null where the options name another one.
 * Nothing is written yet. Throws `wrong-input` where a recipe cannot take files, where there are none or no policy, and what is wrong
 * with the files.
 */
export async function taskRecipe(
  options: TrainingTaskOptions,
  limits = TASK_LIMITS,
): Promise<TaskRecipe | null> {
  const { recipe, tasks, policy, prompts, world } = options;
  expectAgentOptions(options);
  expectToolOptions(options);
  if (world !== undefined) return expectWorldAlone(options);
  const files = tasks ?? [];
  const isOnQuestions = isQuestionRecipe(recipe);
  const isOnEpisodes = (options.agent === true || options.tools !== undefined) && recipe !== 'grpo';
  if (isOnEpisodes) expectEpisodeRecipe(recipe);
  if (prompts !== undefined) needsOnQuestions(recipe);
  const isOnExamples = !isOnEpisodes && isExampleRecipe(recipe);
  // Without files spin plays its own corpus.
  if (recipe === 'spin' && files.length === 0) return null;
  if (recipe !== 'grpo' && recipe !== DISTIL && !isOnExamples && !isOnEpisodes) {
    // Without files the recipe plays its own family.
    if (files.length === 0 && !(isOnQuestions && isWordsPolicy(policy))) return expectOwnPrompts(options);
    if (!isOnQuestions) {
      // A name that no recipe has is said first.
      const { named } = await openRecipes([recipe]);
      refuseQuestions(named[0]!);
    }
  }
  if (files.length === 0 && (isOnExamples || !isWordsPolicy(policy)))
    throw wrongInput('run.tasks', `Recipe ${recipe} has no tasks.`, {
      expected: isOnExamples
        ? `files of ${FROM_FILES[recipe].needs.map((datum) => DATA[datum]).join(' and ')}`
        : 'files of questions with their answers',
      next: `Name them with --tasks FILE.jsonl (repeat for several)${isOnExamples ? '' : `, or train --policy ${WORDS}, for which questions are generated`}.`,
    });
  if (policy === undefined)
    throw wrongInput('run.policy', 'No policy is named that is to be trained on the files.', {
      expected: '--policy NAME, a policy in the state folder',
      next: 'Import one with `npx rollmesh policy import DIR --name NAME`; `models/arithmetic-base` is a small one that knows sums.',
    });
  const asked = { ...options, tasks: files, start: files.length ? START : policy };
  if (isOnEpisodes) return episodeRecipe(recipe, asked, limits);
  if (isOnExamples) return exampleRecipe(recipe, asked, limits);
  if (recipe === DISTIL) return distilRecipe(asked, limits);
  return isOnQuestions ? questionRecipe(recipe, asked, limits) : grpoRecipe(asked, limits);
}
