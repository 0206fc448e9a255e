/** Objects of tasks as files: they lie in a folder beside the module of the recipe that names them, each called by its hash. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { wrongInput } from '../core/errors.ts';
import { longSha256Hex } from '../core/random.ts';
import type { ReadStored } from '../core/recipe/round-context.ts';
import type { StoredObject } from '../worlds/file/stored-tasks.ts';

interface RecipeFile {
  /** Path of the module. */
  readonly file: string;
}

const folderOf = ({ file }: RecipeFile): string => join(dirname(file), 'tasks');

/** Reads the object from beside the first of the modules that has it whole. Throws `tasks.missing` where none has. */
export const tasksBeside =
  (modules: readonly RecipeFile[]): ReadStored =>
  async (sha256) => {
    for (const module of modules) {
      const bytes = await readFile(join(folderOf(module), sha256)).catch(() => null);
      const object = bytes && new Uint8Array(bytes);
      if (object && (await longSha256Hex(object)) === sha256) return object;
    }
    throw wrongInput('tasks.missing', `The object of tasks ${sha256} is not beside the recipe’s module.`, {
      expected: `a file tasks/${sha256} in the folder of the module that \`rollmesh start\` wrote`,
      next: 'Start the run again with the same --tasks: what is missing is written again.',
    });
  };

/** Writes the objects that are not there yet, or are damaged, beside the module. */
export async function writeTasks(module: RecipeFile, objects: AsyncIterable<StoredObject>): Promise<void> {
  const folder = folderOf(module);
  await mkdir(folder, { recursive: true });
  for await (const { sha256, bytes } of objects) {
    const path = join(folder, sha256);
    const before = await readFile(path).catch(() => null);
    if (before?.equals(bytes)) continue;
    // An object is there whole, or not at all.
    await writeFile(`${path}.writing`, bytes);
    await rename(`${path}.writing`, path);
  }
}
