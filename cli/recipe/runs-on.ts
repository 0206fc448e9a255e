/** On what a recipe runs beside its own world: which files of a user's, and what they must have. `npx rollmesh recipe list` says it. */
import { basename } from 'node:path';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { DATA, type Datum } from '../../core/game/verbs.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { FROM_FILES } from '../../recipes/from-files.ts';
import { readConversations, readPairs, readRated } from '../../worlds/file/read-examples.ts';
import { lackedInGame } from '../../worlds/own-game.ts';
import { lackedAt, lackedIn } from '../../worlds/own-world.ts';
import { dataOf } from '../../worlds/questions/game.ts';
import { SHIPPED_WORLDS, shippedWorld } from '../../worlds/shipped-worlds.ts';
import { FILE_RECIPES } from '../file-recipes.ts';
import {
  imagesBeside,
  readTaskFiles,
  type TaskFileOptions,
  taskFileBytes,
} from '../policy/task-file-options.ts';
import { openWorld } from '../recipe-modules.ts';

/** What every line of a file must have for the recipe; null where it runs on no file. */
export const neededOfFiles = ({ name }: Pick<Recipe, 'name'>): readonly Datum[] | null =>
  FROM_FILES.get(name)?.needs ?? null;

/** What `recipe list --for` is asked for programs that hold episodes. */
export const AGENTS = 'agents';

/** What keeps agents from training a recipe, in words; none where they can. Of an episode nothing is known but its answers and its reward. */
export function lackedByAgents({ name, written, inEpisodes, needsOfTasks }: Recipe): string[] {
  if (inEpisodes || name === 'grpo') return [];
  if (needsOfTasks) return [needsOfTasks.which];
  const examples =
    neededOfFiles({ name, written } as Recipe)?.filter((datum) => OF_EXAMPLES.includes(datum)) ?? [];
  if (examples.length) return [inWords(examples)];
  if (!written) return ['another policy that teaches'];
  const others = written.needs.verbs.filter((verb) => verb !== 'solve');
  const data = written.needs.data.filter((datum) => datum !== 'answer' && datum !== 'mark');
  return [
    ...(others.length ? [`to ask the policy itself: to ${others.join(', ')}`] : []),
    ...(data.length ? [inWords(data)] : []),
    ...(others.length || data.length
      ? []
      : [`single answers${written.ownReward ? `: ${written.ownReward}` : ''}`]),
  ];
}

const OF_EXAMPLES: readonly Datum[] = ['conversations', 'pairs', 'ratings'];

/** "questions with a worked solution to each task", games, or what keeps the recipe in its own world. */
export function runsOn(recipe: Recipe): string {
  const needs = neededOfFiles(recipe);
  const { datum, which } = recipe.needsOfTasks ?? {};
  if (!needs && recipe.inGame) return `${which} of yours: --world GAME`;
  if (!needs)
    return `nothing else: it needs ${which === undefined ? 'tasks of its own family' : `${which} (${datum})`}`;
  if (OF_EXAMPLES.some((datum) => needs.includes(datum))) return `files of ${inWords(needs)}`;
  return `questions with ${inWords(needs)}`;
}

/** What it plays where nobody names files or a world: task family, start policy, tasks a round × rollouts a task; null for what plays files alone. */
export const playsItself = (recipe: Recipe): string | null => {
  const { taskName, startPolicy, tasks, groupSize } = recipe;
  return FILE_RECIPES.includes(recipe) ? null : `${taskName} from ${startPolicy}, ${tasks} × ${groupSize}`;
};

/** "chains from arithmetic-chains, 48 × 5; questions with …": what it plays of its own, and what else it runs on. */
export const whatItRuns = (recipe: Recipe): string => {
  const plays = playsItself(recipe);
  return plays === null ? runsOn(recipe) : `${plays}; ${runsOn(recipe)}`;
};

/** What every file of questions has is not said. */
const inWords = (data: readonly Datum[]): string =>
  data.flatMap((datum) => (datum === 'mark' ? [] : [DATA[datum]])).join(' and ');

/** What a file has, with the fault of each way to read it that failed. */
async function dataOfFile(path: string, options: TaskFileOptions): Promise<readonly Datum[]> {
  const bytes = await taskFileBytes(path);
  const [name, beside] = [basename(path), imagesBeside(path)];
  const faults = new Map<string, string>();
  const read = async (what: string, data: () => Promise<readonly Datum[]>): Promise<readonly Datum[]> => {
    try {
      return await data();
    } catch (error) {
      if (!(error instanceof RollmeshError)) throw error;
      faults.set(error.message, faults.has(error.message) ? '' : `As ${what}: `);
      return [];
    }
  };
  const found = [
    ...(await read('questions', async () => dataOf(await readTaskFiles([path], options)))),
    ...(await read('pairs', async () =>
      (await readPairs(name, bytes, undefined, beside)).length ? ['pairs'] : [],
    )),
    ...(await read('ratings', async () =>
      (await readRated(name, bytes, undefined, beside)).length ? ['ratings'] : [],
    )),
    ...(await read('conversations', async () =>
      (await readConversations(name, bytes, undefined, beside)).length ? ['conversations'] : [],
    )),
  ];
  if (found.length) return found;
  const why = [...faults].map(([fault, read]) => read + fault).join(' ');
  throw wrongInput('tasks.kind', `No recipe can read ${path}. ${why}`, {
    expected: 'questions with answers, pairs of answers, rated answers, or conversations',
    next: 'Name other fields with --fields, or another --checker.',
  });
}

/** What each recipe misses in a file of tasks, in the world of a module or where agents hold the episodes, in words; null where it runs on no file, or in no world but its own. */
export async function lackedFor(
  recipes: readonly Recipe[],
  path: string,
  options: TaskFileOptions,
): Promise<ReadonlyMap<Recipe, readonly string[] | null>> {
  if (path === AGENTS) return new Map(recipes.map((recipe) => [recipe, lackedByAgents(recipe)]));
  if (SHIPPED_WORLDS.includes(path)) {
    const place = shippedWorld(path);
    return new Map(recipes.map((recipe) => [recipe, lackedAt(recipe, place)]));
  }
  if (/\.[cm]?[jt]s$/.test(path)) {
    const place = await openWorld(path);
    return new Map(
      recipes.map((recipe) => [
        recipe,
        'game' in place ? lackedInGame(recipe) : lackedIn(recipe, place.world),
      ]),
    );
  }
  const has = await dataOfFile(path, options);
  const lacked = (recipe: Recipe) => neededOfFiles(recipe)?.filter((datum) => !has.includes(datum));
  return new Map(recipes.map((recipe) => [recipe, lacked(recipe)?.map((datum) => DATA[datum]) ?? null]));
}
