/** Registries of recipes, and the check of what calls itself a recipe. */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import { checkRecipe } from '../../core/recipe/check-recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { runOf, runOrder } from '../../recipes/run-order.ts';
import { defineRecipe } from '../../sdk.ts';

const dapo = shipped.find('dapo');
const trio = shipped.find('trio');

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

  /** What a recipe has had to have since 0.1.0: another field that it must have would refuse the modules of users. */
  const REQUIRED = [
    ...['name', 'title', 'paper', 'summary', 'differences', 'startPolicy', 'taskName', 'tasks', 'groupSize'],
    ...['rewards', 'sets', 'roles', 'propose', 'rollOut', 'judge', 'learn', 'evaluate'],
  ] as const;
  test('needs the fields of 0.1.0 and no other', () => {
    const own = Object.fromEntries(REQUIRED.map((field) => [field, dapo[field]]));
    expect(checkRecipe(own, 'it')).toBe(own);
  });
  test.each(REQUIRED)('without %s is refused by that name', (field) => {
    const { [field]: _, ...others } = dapo;
    expect(() => checkRecipe(others, 'own.ts')).toThrow(
      expect.objectContaining({
        code: 'recipe.invalid',
        message: expect.stringMatching(new RegExp(`^own.ts is not a recipe: it lacks \`${field}\``)),
      }),
    );
  });

  test('without variants and roles that can be frozen it takes none', () => {
    const { variants: _, freezable: __, ...own } = dapo;
    const known = registry([own]);
    const order = v.parse(runOrder, { recipe: 'dapo' });
    expect(runOf(known, order).settings.recipe).toBe('dapo');
    const refused = (code: string) =>
      expect.objectContaining({ code, message: expect.stringContaining('none: this recipe takes none') });
    expect(() => runOf(known, { ...order, variant: 'odd' })).toThrow(refused('run.variant'));
    expect(() => runOf(known, { ...order, freeze: ['solver'] })).toThrow(refused('run.freeze'));
  });

  test('without a method section it still is', () => {
    const { method: _, ...own } = dapo;
    expect(checkRecipe(own, 'it')).toBe(own);
  });

  const { learn: _, ...unlearned } = dapo;
  const { taskName: __, ...unnamed } = dapo;
  const { setting, ...unset } = dapo.method!;
  test.each<[string, unknown, RegExp]>([
    ['a wrong field', { ...unlearned, teach: dapo.learn }, /has no field `teach`; it lacks `learn`/],
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
    ['no name of its tasks', unnamed, /it lacks `taskName`/],
    [
      'a misspelt name of its tasks',
      { ...unnamed, taskname: 'a' },
      /no field `taskname`; it lacks `taskName`/,
    ],
    [
      'the name of a family that has none',
      { ...dapo, taskName: undefined },
      /`taskName` is undefined, expected a text/,
    ],
    [
      'an empty name of its tasks',
      { ...dapo, taskName: '' },
      /`taskName` is "", expected a text that is not/,
    ],
    [
      'a method in one text',
      { ...dapo, method: 'PPO' },
      /`method` is "PPO", expected an object with six texts/,
    ],
    ['a method without a part', { ...dapo, method: unset }, /it lacks `method.setting`/],
    [
      'a misspelt part of its method',
      { ...dapo, method: { ...unset, seting: setting } },
      /no field `method.seting`; it lacks `method.setting`/,
    ],
    [
      'a part of its method that is no text',
      { ...dapo, method: { ...unset, setting: 3 } },
      /`method.setting` is 3, expected a text/,
    ],
    ['nothing', undefined, /it is undefined/],
    ['a function', () => dapo, /it is Function/],
  ])('%s is told by its name', (_, value, said) => {
    const error = failure(() => checkRecipe(value, 'The default export of x.ts'));
    expect(error).toMatchObject({ kind: 'wrong-input', code: 'recipe.invalid' });
    expect(error.message).toMatch(/^The default export of x.ts is not a recipe: /);
    expect(error.message).toMatch(said);
  });

  test('is refused where it is defined, so that Workers and tests that import it say what is wrong', () => {
    expect(defineRecipe(dapo)).toBe(dapo);
    const error = failure(() => defineRecipe(unnamed as typeof dapo));
    expect(error).toMatchObject({ kind: 'wrong-input', code: 'recipe.invalid' });
    expect(error.message).toContain('it lacks `taskName`');
  });
});
