/** Which recipes `npm test` plays in the mesh, and whose pages it walks through. */
import { expect, test } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import { recipes } from '../../recipes/index.ts';
import { ALWAYS, chosenRecipes, covering } from '../every-recipe/chosen.ts';

const sets = (of: Readonly<Record<string, string>>) =>
  new Map(Object.entries(of).map(([name, letters]) => [name, new Set(letters)]));

test('the first, then always the one that holds most of what is missing', () => {
  // b holds x and y; of what is left, z and w, d holds both.
  expect(covering(sets({ a: 'xz', b: 'xy', c: 'w', d: 'zw' }), ['b'])).toEqual(['b', 'd']);
  expect(covering(sets({ a: 'xy', b: 'yz', c: 'z' }), [])).toEqual(['a', 'b']);
  expect(covering(sets({ a: 'x', b: 'x' }), ['b'])).toEqual(['b']);
});

test('the flagships, and a recipe for each way to hold weights and to play roles', () => {
  const chosen = chosenRecipes('');
  const names = chosen.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(ALWAYS));
  const sets = chosen.flatMap((recipe) => Object.values(recipe.sets));
  for (const part of ['head', 'average', 'adapter'] as const)
    expect(
      sets.some((set) => set[part]),
      part,
    ).toBe(recipes.some((recipe) => Object.values(recipe.sets).some((set) => set[part])));
  for (const part of ['state', 'bindings', 'payProposals'] as const)
    expect(
      chosen.some((recipe) => recipe[part]),
      part,
    ).toBe(true);
  expect(names.length).toBeLessThan(recipes.length / 4);
});

test('those that are named, or all', () => {
  expect(chosenRecipes('dapo,trio').map(({ name }) => name)).toEqual(['dapo', 'trio']);
  expect(chosenRecipes('all')).toBe(recipes);
  expect(() => chosenRecipes('dapo,none')).toThrow(RollmeshError);
});
