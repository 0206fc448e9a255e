/** Which recipes `npm test` plays in the mesh, and whose pages it walks through. */
import { expect, test } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import { recipes } from '../../recipes/index.ts';
import { ALWAYS, chosenPages, chosenRecipes, covering } from '../every-recipe/chosen.ts';

const sets = (of: Readonly<Record<string, string>>) =>
  new Map(Object.entries(of).map(([name, letters]) => [name, new Set(letters)]));

test('the first, then always the one that holds most of what is missing', () => {
  // b holds x and y; of what is left, z and w, d holds both.
  expect(covering(sets({ a: 'xz', b: 'xy', c: 'w', d: 'zw' }), ['b'])).toEqual(['b', 'd']);
  expect(covering(sets({ a: 'xy', b: 'yz', c: 'z' }), [])).toEqual(['a', 'b']);
  expect(covering(sets({ a: 'x', b: 'x' }), ['b'])).toEqual(['b']);
});

test('the flagships are played, every task family, and a recipe for each way to hold weights', () => {
  const chosen = chosenRecipes('');
  const names = chosen.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(ALWAYS));
  expect(new Set(chosen.map(({ taskName }) => taskName))).toEqual(
    new Set(recipes.map(({ taskName }) => taskName)),
  );
  expect(chosen.some(({ state }) => state)).toBe(true);
  expect(chosen.some(({ sets: own }) => Object.values(own).some(({ head }) => head))).toBe(true);
  expect(names.length).toBeLessThan(recipes.length);
});

test('of pages, the flagships and a recipe for each way to hold weights and to play roles', () => {
  const pages = chosenPages('');
  expect(pages.map(({ name }) => name)).toEqual(expect.arrayContaining(ALWAYS));
  const sets = pages.flatMap((recipe) => Object.values(recipe.sets));
  expect(sets.some(({ head }) => head)).toBe(true);
  expect(sets.some(({ average }) => average)).toBe(true);
  for (const part of ['state', 'bindings', 'payProposals'] as const)
    expect(
      pages.some((recipe) => recipe[part]),
      part,
    ).toBe(true);
  expect(chosenPages('all')).toBe(recipes);
});

test('those that are named, or all', () => {
  expect(chosenRecipes('dapo,trio').map(({ name }) => name)).toEqual(['dapo', 'trio']);
  expect(chosenRecipes('all')).toBe(recipes);
  expect(() => chosenRecipes('dapo,none')).toThrow(RollmeshError);
});
