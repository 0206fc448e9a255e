/** Recipes as modules that every process of a run loads: their code in one file, their data in another beside it, so that one bundle of the Workers serves many. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { dataOfWritten, importOfData } from '../local/mesh/written-recipes.ts';
import type { BundledReward } from './rewards/reward-module.ts';

const literal = (value: unknown): string => JSON.stringify(value);

interface WrittenRecipe {
  /** The recipe's name, which its file has, too. */
  readonly name: string;
  /** From what it was written, in words. */
  readonly from: string;
  /** Lines that import what `code` uses. */
  readonly imports: readonly string[];
  /** An expression, the recipe. `data` in it is the data, parsed. */
  readonly code: string;
  readonly data?: unknown;
  /** Reward modules, which `code` has as `modules` by their hashes. */
  readonly bundles?: readonly BundledReward[];
}

/** The module of a recipe in a folder of them. */
export const writtenFile = (folder: string, name: string): string => join(resolve(folder), `${name}.mjs`);

/** Writes the recipe's module, and what it imports from beside it, and returns its path. */
export async function writeRecipe(
  folder: string,
  { name, from, imports, code, data, bundles = [] }: WrittenRecipe,
): Promise<string> {
  const file = writtenFile(folder, name);
  const write = async (path: string, text: string) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  const rewardFile = ({ hash }: BundledReward) => `reward-${hash}.mjs`;
  for (const bundle of bundles) await write(join(dirname(file), rewardFile(bundle)), bundle.text);
  // The data is parsed as JSON: in an object literal a key such as __proto__ would mean something else.
  if (data !== undefined)
    await write(dataOfWritten(file), `export default ${literal(JSON.stringify(data))};\n`);
  const named = bundles.map(({ hash }, i) => `'${hash}': reward${i}`).join(', ');
  const lines = [
    `/** Written by rollmesh from ${from}: do not edit. */`,
    ...imports,
    ...(data === undefined ? [] : [importOfData(file)]),
    ...bundles.map((bundle, i) => `import reward${i} from './${rewardFile(bundle)}';`),
    '',
    ...(data === undefined ? [] : ['const data = JSON.parse(text);']),
    ...(bundles.length ? [`const modules = { ${named} };`] : []),
    `export default ${code};`,
  ];
  // Last: whoever finds the module finds what it imports.
  await write(file, `${lines.join('\n')}\n`);
  return file;
}
