/** Hashes of the code that trains: of the sources, so that a checkout, the package and the pages of both have the same. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile, Plugin } from 'esbuild';
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

const settings = {
  write: false,
  bundle: true,
  packages: 'external',
  format: 'esm',
  logLevel: 'silent',
} as const;

async function codeInSources(): Promise<Code> {
  const { metafile } = await build({
    ...settings,
    entryPoints: [...RELEASE],
    absWorkingDir: INSTALLATION,
    outdir: INSTALLATION,
    metafile: true,
  });
  return codeOfSources(metafile.inputs);
}

/** Leaves out what is this installation's: by name, or by its place on this machine, as modules that rollmesh writes import it. */
const withoutRelease: Plugin = {
  name: 'without-release',
  setup(builder) {
    builder.onResolve({ filter: /^rollmesh(?:\/|$)/ }, ({ path }) => ({ path, external: true }));
    builder.onResolve({ filter: /^\// }, ({ path }) => {
      const [, own] =
        /^\/(?:dist\/)?((?:recipes|worlds|protocols|core)\/.+)\.[jt]s$/.exec(
          path.slice(INSTALLATION.length),
        ) ?? [];
      return own !== undefined && path.startsWith(INSTALLATION)
        ? { path: `rollmesh/${own}`, external: true }
        : undefined;
    });
  },
};

/** sha256 of a user's recipe as one module, with all that it imports beside packages: no place on this machine is in it. */
async function hashOfOwn(file: string): Promise<string> {
  const { outputFiles } = await build({
    ...settings,
    entryPoints: [file],
    minifyWhitespace: true,
    plugins: [withoutRelease],
  });
  return sha256Hex(outputFiles[0]!.contents);
}

let known: Promise<Code> | undefined;

/** The code of all shipped recipes in this installation, which is read once. */
export function codeOfRelease(): Promise<Code> {
  known ??= BUILT ? readFile(OF_PACKAGE, 'utf8').then((text) => JSON.parse(text) as Code) : codeInSources();
  return known;
}

/** The code of the recipes of these names. `modules`: recipes of the user, and their files. */
export async function codeOf(
  names: readonly string[],
  modules: readonly { readonly recipe: { readonly name: string }; readonly file: string }[],
): Promise<Code> {
  const { recipes: shipped, release } = await codeOfRelease();
  const hashes = names.map(async (name) => {
    const own = modules.find(({ recipe }) => recipe.name === name);
    return [name, own ? await hashOfOwn(own.file) : (shipped[name] ?? null)] as const;
  });
  return { recipes: Object.fromEntries(await Promise.all(hashes)), release };
}
