/** Files of tasks as a recipe: read and checked as a whole, split, and written as a module that every process of a run loads. */
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import type { Extraction } from '../core/checkers/extract.ts';
import { wrongInput } from '../core/errors.ts';
import { withSettings } from '../core/set-path.ts';
import { type GrpoData, grpoData, grpoName, grpoSettings } from '../recipes/grpo/from-data.ts';
import { type HeldOutBy, reportLines, taskSet } from '../tasks/file/task-set.ts';
import { readTaskFiles, type TaskFileOptions, taskFileSettings } from './policy/task-file-options.ts';

export interface TaskRecipeOptions extends TaskFileOptions {
  /** Paths, each with its weight where it has one: `FILE` or `FILE@3`. */
  readonly tasks: readonly string[];
  /** A share from 0 to 1, or the path of a file. */
  readonly heldOut: string;
  /** Field whose equal values go to the same side of the split. */
  readonly splitBy?: string;
  readonly extract: readonly Extraction[];
  /** Assignments `path=value`. */
  readonly set: readonly string[];
  readonly start: string;
}

/** Questions that a run takes with it: they are part of every Worker's code, which has 10 MB on the platform. */
const MOST_BYTES = 6 * 1024 * 1024;

/** "FILE@3" is FILE with the weight 3. */
export function weighted(text: string): { path: string; weight: number } {
  const at = /^(.+)@(\d+(?:\.\d+)?)$/.exec(text);
  const weight = at ? Number(at[2]) : 1;
  if (weight > 0) return { path: at ? at[1]! : text, weight };
  throw wrongInput('tasks.weight', `The file ${text} has the weight 0.`, {
    expected: 'a weight above 0, as in FILE@3',
    next: 'Leave the file out instead.',
  });
}

async function heldOutBy({ heldOut, splitBy, ...options }: TaskRecipeOptions): Promise<HeldOutBy> {
  const share = Number(heldOut);
  if (heldOut.trim() === '' || Number.isNaN(share))
    return { tasks: await readTaskFiles([heldOut], taskFileSettings(options)) };
  if (share > 0 && share < 1) return { share, ...(splitBy === undefined ? {} : { by: splitBy }) };
  throw wrongInput('tasks.held-out', `A share of ${heldOut} cannot be held out.`, {
    expected: 'a share between 0 and 1, or a file of held-out tasks',
  });
}

/** The data of the recipe, and sentences on what was left out. Throws what is wrong with the files or the settings. */
export async function readTaskRecipe(
  options: TaskRecipeOptions,
): Promise<{ data: GrpoData; report: readonly string[] }> {
  const settings = withSettings(grpoSettings, {}, options.set);
  const files = options.tasks.map(weighted);
  const sources = await Promise.all(
    files.map(async ({ path, weight }) => ({
      weight,
      tasks: await readTaskFiles([path], taskFileSettings(options)),
    })),
  );
  const { report, ...set } = taskSet(sources, await heldOutBy(options));
  const data = v.parse(grpoData, {
    name: files.map(({ path }) => basename(path)).join(', '),
    start: options.start,
    checker: options.checker,
    extract: options.extract,
    sources: set.sources.filter(({ tasks }) => tasks.length > 0),
    heldOut: set.heldOut,
    settings,
  });
  const bytes = new TextEncoder().encode(JSON.stringify(data)).length;
  if (bytes > MOST_BYTES)
    throw wrongInput('tasks.size', `The tasks are ${bytes} bytes of JSON.`, {
      expected: `at most ${MOST_BYTES}, since every Worker has them in its code`,
      next: 'Train on fewer of them at a time, or on shorter ones.',
    });
  return { data, report: reportLines(report) };
}

/**
 * Writes the recipe under `folder` and returns the path of its module. Equal data gives the equal path; nothing is written twice.
 * `library` is where the module finds `grpoFrom`.
 */
export async function writeTaskRecipe(folder: string, data: GrpoData, library: string): Promise<string> {
  const into = join(folder, grpoName(data));
  await mkdir(into, { recursive: true });
  await writeFile(join(into, 'tasks.json'), JSON.stringify(data));
  const file = join(into, 'recipe.ts');
  await writeFile(
    file,
    [
      '/** Written by rollmesh from files of tasks: do not edit. */',
      `import { grpoFrom } from ${JSON.stringify(library)};`,
      "import data from './tasks.json' with { type: 'json' };",
      '',
      'export default grpoFrom(data);',
      '',
    ].join('\n'),
  );
  return file;
}
