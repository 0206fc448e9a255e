/** Objects of tasks as files: they lie in a folder beside the module of the recipe that names them, each called by its hash. */
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { wrongInput } from '../core/errors.ts';
import type { ReadStored } from '../core/recipe/round-context.ts';
import type { StoredObject } from '../worlds/file/stored-tasks.ts';

interface RecipeFile {
  /** Path of the module. */
  readonly file: string;
}

const folderOf = ({ file }: RecipeFile): string => join(dirname(file), 'tasks');

/** Reads the object from beside the first of the modules that has it. Throws `tasks.missing` where none has. */
export const tasksBeside =
  (modules: readonly RecipeFile[]): ReadStored =>
  async (sha256) => {
    for (const module of modules) {
      const bytes = await readFile(join(folderOf(module), sha256)).catch(() => null);
      if (bytes) return new Uint8Array(bytes);
    }
    throw wrongInput('tasks.missing', `The object of tasks ${sha256} is not beside the recipe’s module.`, {
      expected: `a file tasks/${sha256} in the folder of the module that \`rollmesh start\` wrote`,
      next: 'Start the run again with the same --tasks: what is missing is written again.',
    });
  };

/** Writes the objects that are not there yet beside the module. */
export async function writeTasks(module: RecipeFile, objects: AsyncIterable<StoredObject>): Promise<void> {
  const folder = folderOf(module);
  await mkdir(folder, { recursive: true });
  for await (const { sha256, bytes } of objects) {
    const path = join(folder, sha256);
    const before = await stat(path).catch(() => null);
    if (before?.size === bytes.length) continue;
    // An object is there whole, or not at all.
    await writeFile(`${path}.writing`, bytes);
    await rename(`${path}.writing`, path);
  }
}
