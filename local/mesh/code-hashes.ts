/** Hashes of the code that trains: of the sources, so that a checkout, the package and the pages of both have the same. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { sha256Hex } from '../../core/random.ts';
import { recipes } from '../../recipes/index.ts';
import type { Code } from '../verify/code.ts';
import { build } from './esbuild.ts';
import { BUILT, INSTALLATION, installed } from './installation.ts';

/** The package brings the hashes of the sources that it was built from (.ci/build). */
const OF_PACKAGE = installed('dist', 'code.json');
/** The modules from which all code of a release is reached that versions follow from. */
const RELEASE = ['recipes/index.ts', 'learner/train/round-trainer.ts'] as const;

/** What a bundle was made of. */
type Inputs = Metafile['inputs'];

/** sha256 of the modules that are reached from these, each with its path and the sha256 of its text; packages of others are left out. */
function hashOf(entries: readonly string[], inputs: Inputs, folder: string): string {
  const reached = new Set<string>(entries);
  for (const file of reached)
    for (const { path, external } of inputs[file]!.imports)
      if (!external && !path.includes('node_modules/')) reached.add(path);
  const lines = [...reached].sort().map((file) => `${file} ${sha256Hex(readFileSync(join(folder, file)))}\n`);
  return sha256Hex(new TextEncoder().encode(lines.join('')));
}

/** The code of all shipped recipes, by a bundle of the sources that has them and the learner. */
export const codeOfSources = (inputs: Inputs): Code => ({
  recipes: Object.fromEntries(
    recipes.map(({ name }) => [name, hashOf([`recipes/${name}/recipe.ts`], inputs, INSTALLATION)]),
  ),
  release: hashOf(RELEASE, inputs, INSTALLATION),
});

async function inputsOf(entryPoints: readonly string[], folder: string): Promise<Inputs> {
  const { metafile } = await build({
    entryPoints: [...entryPoints],
    absWorkingDir: folder,
    outdir: folder,
    write: false,
    bundle: true,
    packages: 'external',
    format: 'esm',
    metafile: true,
    logLevel: 'silent',
  });
  return metafile.inputs;
}

let known: Promise<Code> | undefined;

/** The code of all shipped recipes in this installation, which is read once. */
export function codeOfRelease(): Promise<Code> {
  known ??= BUILT
    ? readFile(OF_PACKAGE, 'utf8').then((text) => JSON.parse(text) as Code)
    : inputsOf(RELEASE, INSTALLATION).then(codeOfSources);
  return known;
}

/**
 * The code of the recipes of these names. `modules`: recipes of the user and their files, whose paths count from the module's folder, so that they are the same
 * on every machine.
 */
export async function codeOf(
  names: readonly string[],
  modules: readonly { readonly recipe: { readonly name: string }; readonly file: string }[],
): Promise<Code> {
  const { recipes: shipped, release } = await codeOfRelease();
  const hashes = names.map(async (name): Promise<[string, string | null]> => {
    const own = modules.find(({ recipe }) => recipe.name === name);
    if (!own) return [name, shipped[name] ?? null];
    const folder = dirname(own.file);
    return [name, hashOf([basename(own.file)], await inputsOf([own.file], folder), folder)];
  });
  return { recipes: Object.fromEntries(await Promise.all(hashes)), release };
}
