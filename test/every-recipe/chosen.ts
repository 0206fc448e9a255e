/**
 * The recipes that are played in the mesh and whose pages are walked through. `npm run check` takes the flagships and, of the others, as few as
 * use every task family and kind of weights that any recipe uses, and in the mesh every protocol; `npm run check:recipes` takes all
 * (docs/decisions/0033).
 */
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import type { Recipe } from '../../core/recipe.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { recipes, shipped } from '../../recipes/index.ts';

/** Names with a comma between them, or `all`. */
export const CHOSEN = 'ROLLMESH_RECIPES';

/** The flagships, and sppo: their pages are looked at by people, and tests look at what is on them. */
export const ALWAYS = ['trio', 'tango', 'ssp', 'ragen', 'sppo'];

/** Files of `protocols/` that a recipe is made of, by its name. */
async function protocolsOf(names: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const entries = new Map(names.map((name) => [name, join('recipes', name, 'recipe.ts')]));
  const { metafile } = await build({
    entryPoints: [...entries.values()],
    bundle: true,
    write: false,
    metafile: true,
    outdir: '.',
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  const reached = (file: string, seen: Set<string>): Set<string> => {
    seen.add(file);
    for (const { path } of metafile.inputs[file]!.imports)
      if (!seen.has(path) && metafile.inputs[path]) reached(path, seen);
    return seen;
  };
  return new Map(
    [...entries].map(([name, file]) => [
      name,
      new Set([...reached(file, new Set())].filter((path) => dirname(path).startsWith('protocols'))),
    ]),
  );
}

/** What the mesh does for a recipe beyond its protocols: the family that its Workers judge by, and the weights that its versions hold. */
function featuresOf({ taskName, sets, roles, state, bindings, payProposals }: Recipe): string[] {
  const weights = Object.entries(sets).flatMap(([name, { head, average, adapter }]) => [
    ...(name === MAIN_SET ? [] : ['weights beside the main ones']),
    ...(head ? [`a head for ${head.kind}`] : []),
    ...(average ? ['an average of weights'] : []),
    ...(adapter ? ['an adapter'] : []),
  ]);
  return [
    `tasks: ${taskName}`,
    ...weights,
    ...(Object.values(roles).some(({ teaches }) => teaches) ? ['a teacher'] : []),
    ...(state ? ['a recipe state'] : []),
    ...(bindings ? ['roles that older versions play'] : []),
    ...(payProposals ? ['paid proposals'] : []),
  ];
}

/**
 * As few of the sets, by name, as hold everything that all of them hold: `first`, then always the one that holds most of what is missing
 * (the earlier one where two hold as much).
 */
export function covering(
  sets: ReadonlyMap<string, ReadonlySet<string>>,
  first: readonly string[],
): readonly string[] {
  const chosen = [...first];
  const missing = new Set([...sets.values()].flatMap((set) => [...set]));
  const take = (name: string) => {
    for (const one of sets.get(name)!) missing.delete(one);
  };
  chosen.forEach(take);
  while (missing.size) {
    const gains = [...sets].map(([name, set]) => ({
      name,
      gain: [...set].filter((one) => missing.has(one)).length,
    }));
    const { name } = gains.reduce((best, one) => (one.gain > best.gain ? one : best));
    chosen.push(name);
    take(name);
  }
  return chosen;
}

/**
 * The recipes that this run of the tests plays, in the order of the index: in the mesh, or on the page, which shows what came of a group and
 * not the protocol that made it. Throws `recipe.unknown` where one does not exist.
 */
export async function chosenRecipes(
  where: 'mesh' | 'page',
  wanted = process.env[CHOSEN],
): Promise<readonly Recipe[]> {
  if (wanted === 'all') return recipes;
  if (wanted) return wanted.split(',').map((name) => shipped.find(name));
  const protocols = where === 'mesh' ? await protocolsOf(recipes.map(({ name }) => name)) : undefined;
  const held = new Map(
    recipes.map((recipe) => [
      recipe.name,
      new Set([...(protocols?.get(recipe.name) ?? []), ...featuresOf(recipe)]),
    ]),
  );
  const names = covering(held, ALWAYS);
  return recipes.filter(({ name }) => names.includes(name));
}
