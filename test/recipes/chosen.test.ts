/** Which recipes `npm run check` plays in the mesh, and whose pages it walks through. */
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

test('the flagships are played, every task family, and a recipe for each way to hold weights', async () => {
  const chosen = await chosenRecipes('mesh', '');
  const names = chosen.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(ALWAYS));
  expect(new Set(chosen.map(({ taskName }) => taskName))).toEqual(
    new Set(recipes.map(({ taskName }) => taskName)),
  );
  // `protocols/teacher-pass.ts` is used by recipes that are no flagship.
  expect(names.some((name) => ['sdpo', 'trace', 'srpo-route', 'fb-align', 'sd-zero'].includes(name))).toBe(
    true,
  );
  expect(chosen.some(({ state }) => state)).toBe(true);
  expect(chosen.some(({ sets: own }) => Object.values(own).some(({ head }) => head))).toBe(true);
  expect(names.length).toBeLessThan(recipes.length);
});

test('on the page, every task family, and fewer recipes than in the mesh', async () => {
  const pages = await chosenRecipes('page', '');
  expect(pages.map(({ name }) => name)).toEqual(expect.arrayContaining(ALWAYS));
  expect(new Set(pages.map(({ taskName }) => taskName))).toEqual(
    new Set(recipes.map(({ taskName }) => taskName)),
  );
  expect(pages.length).toBeLessThan((await chosenRecipes('mesh', '')).length);
});

test('those that are named, or all', async () => {
  expect((await chosenRecipes('mesh', 'dapo,trio')).map(({ name }) => name)).toEqual(['dapo', 'trio']);
  expect(await chosenRecipes('page', 'all')).toBe(recipes);
  await expect(chosenRecipes('mesh', 'dapo,none')).rejects.toBeInstanceOf(RollmeshError);
});
