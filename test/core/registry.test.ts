/** Registries of recipes, and the check of what calls itself a recipe. */
import { describe, expect, test } from 'vitest';
import { checkRecipe } from '../../core/check-recipe.ts';
import { RollmeshError } from '../../core/errors.ts';
import { registry } from '../../core/registry.ts';
import { dapo } from '../../recipes/dapo/recipe.ts';
import { recipes } from '../../recipes/index.ts';
import { trio } from '../../recipes/trio/recipe.ts';

const failure = (work: () => unknown): RollmeshError => {
  try {
    work();
  } catch (error) {
    if (error instanceof RollmeshError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
};

describe('a registry', () => {
  test('finds by name, and names what it has where there is none', () => {
    const known = registry([trio, dapo]);
    expect(known.find('dapo')).toBe(dapo);
    expect(known.recipes).toEqual([trio, dapo]);
    expect(failure(() => known.find('rise'))).toMatchObject({
      kind: 'wrong-input',
      code: 'recipe.unknown',
      expected: 'one of trio, dapo',
    });
  });

  test('refuses two recipes of one name', () => {
    const twice = failure(() => registry([trio, { ...dapo, name: 'trio' }]));
    expect(twice).toMatchObject({ kind: 'wrong-input', code: 'recipe.duplicate' });
    expect(twice.message).toContain('"trio"');
  });
});

describe('a recipe of unknown origin', () => {
  test.each(recipes)('$name is one', (recipe) => {
    expect(checkRecipe(recipe, 'it')).toBe(recipe);
  });

  test('without a claim and a method section it still is', () => {
    const { claim: _, method: __, ...own } = dapo;
    expect(checkRecipe(own, 'it')).toBe(own);
  });

  const { learn: _, ...unlearned } = dapo;
  const { groupSize: __, ...withoutSize } = dapo;
  test.each<[string, unknown, RegExp]>([
    ['a wrong field', { ...unlearned, teach: dapo.learn }, /has no field `teach`; it lacks `learn`/],
    [
      'a field under its former name',
      { ...withoutSize, group: 8 },
      /has no field `group`, which is called `groupSize` now; it lacks `groupSize`/,
    ],
    ['a value of another kind', { ...dapo, tasks: '64' }, /`tasks` is "64", expected a whole number from 1/],
    ['a group of none', { ...dapo, groupSize: 0 }, /`groupSize` is 0, expected a whole number from 1/],
    [
      'a name that no key can hold',
      { ...dapo, name: 'My Recipe' },
      /`name` is "My Recipe", expected a name of/,
    ],
    ['no role', { ...dapo, roles: {} }, /`roles` .*at least one role/],
    ['no main set', { ...dapo, sets: {} }, /`sets` .*the parameter set `main`/],
    ['a description that is no text', { ...dapo, variants: { a: 1 } }, /`variants.a` is 1, expected a text/],
    ['nothing', undefined, /it is undefined/],
    ['a function', () => dapo, /it is Function/],
  ])('%s is told by its name', (_, value, said) => {
    const error = failure(() => checkRecipe(value, 'The default export of x.ts'));
    expect(error).toMatchObject({ kind: 'wrong-input', code: 'recipe.invalid' });
    expect(error.message).toMatch(/^The default export of x.ts is not a recipe: /);
    expect(error.message).toMatch(said);
  });
});
