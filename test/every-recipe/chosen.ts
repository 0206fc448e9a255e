/**
 * The recipes that are played in the mesh and whose pages are walked through. `npm test` takes the flagships and, of the others, as few
 * as use every kind of weights and of roles that any recipe uses; `.ci/recipes` takes all (docs/decisions/0033, 0038 and 0045).
 */
import type { Recipe } from '../../core/recipe/recipe.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { recipes, shipped } from '../../recipes/index.ts';

/** Names with a comma between them, or `all`. */
export const CHOSEN = 'ROLLMESH_RECIPES';

/** The flagships, and sppo: their pages are looked at by people, and tests look at what is on them. */
export const ALWAYS = ['trio', 'tango', 'ssp', 'ragen', 'sppo'];

/** What the mesh does for a recipe, and the page shows of it, whatever its tasks are: the weights that its versions hold, and its roles. */
function partsOf({ sets, state, bindings, payProposals }: Recipe): string[] {
  const weights = Object.entries(sets).flatMap(([name, { head, average, adapter }]) => [
    ...(name === MAIN_SET ? [] : ['weights beside the main ones']),
    ...(head ? [`a head for ${head.kind}`] : []),
    ...(average ? ['an average of weights'] : []),
    ...(adapter ? ['an adapter'] : []),
  ]);
  return [
    ...weights,
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
 * The recipes that this run of the tests plays in the mesh, and whose pages it walks through, in the order of the index: those that it is asked
 * for, or else as few as use every part. Throws `recipe.unknown` where one does not exist.
 */
export function chosenRecipes(wanted = process.env[CHOSEN]): readonly Recipe[] {
  if (wanted === 'all') return recipes;
  if (wanted) return wanted.split(',').map((name) => shipped.find(name));
  const held = new Map(recipes.map((recipe) => [recipe.name, new Set(partsOf(recipe))]));
  const names = covering(held, ALWAYS);
  return recipes.filter(({ name }) => names.includes(name));
}
