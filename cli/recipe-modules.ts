/**
 * The recipes of a command: those that the project ships, and those that the user names by a module of their own. A reference is the
 * name of a shipped recipe, the path of a module (`./recipe.ts`), or the name of an installed package whose default export is a recipe.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../core/errors.ts';
import type { SeatedGame } from '../core/game/seated-game.ts';
import { checkRecipe } from '../core/recipe/check-recipe.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { type Registry, registry } from '../core/recipe/registry.ts';
import { name as recipeName } from '../core/schema/sample.ts';
import { dataOfWritten } from '../local/mesh/written-recipes.ts';
import { recipes, shipped } from '../recipes/index.ts';
import { defineGame, isGame } from '../worlds/own-game.ts';
import { defineWorld, type World } from '../worlds/own-world.ts';
import { unknownRecipe } from './file-recipes.ts';
import { writtenRecipes } from './shared/state-folder.ts';
import { readTypeScript } from './typescript-modules.ts';

/** A recipe that came from a module of the user. */
export interface RecipeModule {
  readonly recipe: Recipe;
  /** Absolute path of the module. */
  readonly file: string;
}

export interface OpenRecipes {
  /** The shipped recipes and the user's. */
  readonly registry: Registry;
  /** The recipes that were referred to, in the order given. */
  readonly named: readonly Recipe[];
  readonly modules: readonly RecipeModule[];
}

const isPath = (reference: string) =>
  /^\.{0,2}[/\\]/.test(reference) || /\.[cm]?[jt]s$/.test(reference) || /^[A-Za-z]:[/\\]/.test(reference);

/**
 * Throws `wrong-input` where a reference leads nowhere, its module cannot be loaded, or what it exports is no recipe. Nothing has been
 * written then.
 */
export async function openRecipes(references: readonly string[]): Promise<OpenRecipes> {
  const modules: RecipeModule[] = [];
  const named: Recipe[] = [];
  for (const reference of references) {
    const known = recipes.find(({ name }) => name === reference);
    if (known) named.push(known);
    else {
      const file = isPath(reference) ? existing(reference) : await installedModule(reference);
      const recipe = modules.find((module) => module.file === file)?.recipe ?? (await loadRecipe(file));
      if (!named.includes(recipe)) modules.push({ recipe, file });
      named.push(recipe);
    }
  }
  return {
    registry: modules.length ? registry([...recipes, ...modules.map(({ recipe }) => recipe)]) : shipped,
    named,
    modules,
  };
}

/** The shipped recipes and one that has no module yet. */
export const withRecipe = (recipe: Recipe): OpenRecipes => ({
  registry: registry([...recipes, recipe]),
  named: [recipe],
  modules: [],
});

/**
 * As `openRecipes`, and opens those of the recipes called `names` too that `npx rollmesh start` wrote into the state folder: rounds of theirs are
 * read again without `--recipe`. A name that leads nowhere is left to the registry's error.
 */
export async function openRecipesOf(
  names: readonly string[],
  stateDir: string,
  references: readonly string[],
): Promise<OpenRecipes> {
  const opened = await openRecipes(references);
  const known = new Set(opened.registry.recipes.map(({ name }) => name));
  const written = [...new Set(names)]
    // The names come from a mesh, and must not lead out of the folder.
    .filter((name) => !known.has(name) && v.is(recipeName, name))
    .map((name) => resolve(writtenRecipes(stateDir), `${name}.mjs`))
    .filter((file) => existsSync(file));
  return written.length ? openRecipes([...references, ...written]) : opened;
}

/** The most bytes of recipes of a state folder that a mesh loads beside those that are asked for: they are part of every Worker's code. */
const MOST_BYTES = 6 * 1024 * 1024;

/** Of a file, bytes; 0 where there is none. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * As `opened`, with the recipes that `start` wrote into the state folder, the newest first as far as they fit: runs of theirs go on, and are shown with
 * their texts. One that cannot be loaded any more, because another release wrote it or its module is gone, is named on standard error and left out.
 */
export async function withStateRecipes(opened: OpenRecipes, stateDir: string): Promise<OpenRecipes> {
  const folder = writtenRecipes(stateDir);
  const known = new Set(opened.modules.map(({ file }) => file));
  const names = new Set(opened.registry.recipes.map(({ name }) => name));
  const written = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.mjs') && !name.startsWith('reward-'))
    .map((name) => resolve(folder, name))
    .filter((file) => !known.has(file))
    .map((file) => ({ file, at: statSync(file).mtimeMs, bytes: sizeOf(file) + sizeOf(dataOfWritten(file)) }))
    .sort((a, b) => b.at - a.at);
  const modules = [...opened.modules];
  let sum = 0;
  for (const { file, bytes } of written) {
    sum += bytes;
    if (sum > MOST_BYTES) break;
    try {
      const recipe = await loadRecipe(file);
      if (!names.has(recipe.name)) modules.push({ recipe, file });
      names.add(recipe.name);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      console.error(`A recipe of ${folder} is left out. ${why}`);
    }
  }
  if (modules.length === opened.modules.length) return opened;
  return { ...opened, modules, registry: registry([...recipes, ...modules.map(({ recipe }) => recipe)]) };
}

function existing(path: string): string {
  const file = resolve(path);
  if (existsSync(file)) return file;
  throw wrongInput('recipe.path', `There is no recipe module ${file}.`, {
    expected: 'the path of a TypeScript or JavaScript module, relative to the working directory',
    next: 'Correct the path, or write a new project with `rollmesh init`.',
  });
}

/** The entry point of a package that is installed where the user works. Throws `recipe.unknown` where there is none. */
async function installedModule(reference: string): Promise<string> {
  // Loaded only here, since loading takes a moment. It resolves packages as the Workers' bundler will.
  const { build } = await import('../local/mesh/esbuild.ts');
  let file: string | undefined;
  await build({
    stdin: { contents: '', resolveDir: resolve('.') },
    write: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'find',
        setup: (builder) =>
          builder.onStart(async () => {
            const found = await builder.resolve(reference, {
              kind: 'import-statement',
              resolveDir: resolve('.'),
            });
            if (!found.errors.length && !found.external) file = found.path;
          }),
      },
    ],
  });
  if (file === undefined || !existsSync(file)) throw unknownRecipe(reference, recipes);
  return file;
}

/** The default export of a module. `made`: the function that makes one. */
async function loadDefault(file: string, what: 'recipe' | 'world', made: string): Promise<unknown> {
  // A module that rollmesh wrote may import one in TypeScript.
  await readTypeScript();
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(pathToFileURL(file).href)) as typeof loaded;
  } catch (cause) {
    if (cause instanceof RollmeshError && what === 'world') throw cause;
    throw wrongInput(`${what}.module`, `The ${what} module ${file} cannot be loaded: ${reasonOf(cause)}`, {
      next: 'Correct the module.',
      cause,
    });
  }
  if (loaded.default !== undefined) return loaded.default;
  throw wrongInput(`${what}.module`, `The module ${file} has no default export.`, {
    expected: `a ${what}: export default ${made}({ … })`,
    next: exportsOf(loaded, what),
  });
}

const loadRecipe = async (file: string): Promise<Recipe> =>
  checkRecipe(await loadDefault(file, 'recipe', 'defineRecipe'), `The default export of ${file}`);

/** What a module has that is named as a world: a world, or a game of several seats. */
export type OpenedWorld = { readonly file: string } & (
  | { readonly world: World }
  | { readonly game: SeatedGame }
);

/** The world or game of a user's module, checked and tried. Throws `wrong-input` where it cannot be loaded, and as `defineWorld` and `defineGame`. */
export async function openWorld(path: string): Promise<OpenedWorld> {
  const file = resolve(path);
  if (!existsSync(file))
    throw wrongInput('world.path', `There is no world module ${file}.`, {
      expected: 'the path of a TypeScript or JavaScript module, relative to the working directory',
      next: 'Correct the path, or write a world with `npx rollmesh init FOLDER --world`.',
    });
  const loaded = await loadDefault(file, 'world', 'defineWorld');
  return isGame(loaded) ? { game: defineGame(loaded), file } : { world: defineWorld(loaded as World), file };
}

const reasonOf = (cause: unknown) => {
  const message = cause instanceof RollmeshError || cause instanceof Error ? cause.message : String(cause);
  return /[.!?]$/.test(message) ? message : `${message}.`;
};

const exportsOf = (loaded: object, what: string) => {
  const names = Object.keys(loaded);
  return names.length
    ? `It exports ${names.join(', ')}: make the ${what} the default.`
    : 'It exports nothing.';
};
