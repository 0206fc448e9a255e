/** The tasks of a run on files: read and checked, split, and those that say nothing left out. */
import { basename } from 'node:path';
import { RollmeshError, wrongInput } from '../core/errors.ts';
import type { Lines } from '../core/recipe/from-files.ts';
import { FEWEST_QUESTIONS, fewWords } from '../core/statistics/change.ts';
import { recipes } from '../recipes/index.ts';
import { exampleIdentity, readConversations, readPairs, readRated } from '../worlds/file/read-examples.ts';
import type { PlacedTask } from '../worlds/file/task.ts';
import { type HeldOutBy, reportLines, type TaskSet, taskSet } from '../worlds/file/task-set.ts';
import { WORDS, wordsTaskSet } from '../worlds/words/task-set.ts';
import { FILE_RECIPES } from './file-recipes.ts';
import { localTasks } from './policy/local-tasks.ts';
import {
  expectRoom,
  imagesBeside,
  type LeftOut,
  leftOutLines,
  readTaskFiles,
  taskFileBytes,
} from './policy/task-file-options.ts';
import { lackedFor } from './recipe/runs-on.ts';
import type { TaskRecipeOptions } from './training-task-options.ts';

/** The tasks of a recipe, and what is said of them. */
export type NamedTasks = Pick<TaskSet, 'sources' | 'heldOut'> & {
  readonly name: string;
  readonly report: readonly string[];
};

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

const EXAMPLES = { conversations: readConversations, pairs: readPairs, ratings: readRated } as const;

/** How a file, or a data set of the Hub, is read: its name to its tasks. What is left out of files of questions is added to `leftOut`. */
const readerOf = (reads: Lines, options: TaskRecipeOptions, leftOut: LeftOut[]) =>
  reads === 'questions'
    ? (name: string) => readTaskFiles([name], options, leftOut)
    : async (name: string) => {
        const path = await localTasks(name);
        return EXAMPLES[reads](basename(path), await taskFileBytes(path), options.system, imagesBeside(path));
      };

/** The tasks of the files that the options name; of no files, generated questions for the policy `words`. */
export async function trainingTasks(reads: Lines, options: TaskRecipeOptions): Promise<NamedTasks> {
  const files = options.tasks.map(weighted);
  if (files.length === 0) return { name: `${WORDS}, generated`, report: [], ...wordsTaskSet() };
  const paths = await Promise.all(files.map(({ path }) => localTasks(path)));
  await expectRoom([...paths, ...(await Promise.all(heldOutFiles(options).map(localTasks)))]);
  const leftOut: LeftOut[] = [];
  const readFile = readerOf(reads, options, leftOut);
  const read = await Promise.all(
    files.map(async ({ path, weight }, i) => ({
      weight,
      tasks: await readFile(path).catch((fault: unknown) => refuseLines(fault, paths[i]!, options)),
    })),
  );
  // What makes an example a repeat of another is all of it; a question is one by what is asked.
  const identity = reads === 'questions' ? undefined : exampleIdentity;
  const { report, sources, heldOut } = taskSet(read, await heldOutBy(options, readFile), identity);
  return {
    name: paths.map((path) => basename(path)).join(', '),
    sources: sources.filter(({ tasks }) => tasks.length > 0),
    heldOut,
    report: [...leftOutLines(leftOut), ...reportLines(report)],
  };
}

/** Said before a run whose held-out tasks cannot show whether it changed anything; nothing where there are enough. `examined`: how many are asked at most. */
export function fewHeldOut({ heldOut }: Pick<NamedTasks, 'heldOut'>, examined: number): string[] {
  const n = Math.min(heldOut.length, examined);
  return n < FEWEST_QUESTIONS
    ? [`${fewWords(n)}: name a file of more by --held-out FILE, or hold out a larger share of the tasks.`]
    : [];
}
