/** What must hold for every recipe by its definition alone: roles, sets and starts that exist, and words for all of it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FILE_RECIPES } from '../../cli/file-recipes.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { evaluateWritten } from './evaluate-written.ts';

test('every folder is in the list, or in that of recipes on files, with a test of its own', () => {
  const folders = readdirSync('recipes', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = folders.map((folder) => folder.name).sort();
  const [own, onFiles] = [recipes, FILE_RECIPES].map((of) => of.map(({ name }) => name));
  expect(names).toEqual([...own!, ...onFiles!].sort());
  for (const name of own!) expect(existsSync(`test/recipes/${name}.test.ts`), name).toBe(true);
});

test('`npm run bits` has hashes of every recipe as published', () => {
  const recorded = readFileSync('test/bits/hashes.txt', 'utf8').split('\n');
  for (const { name } of recipes)
    expect(recorded.filter((line) => line.startsWith(`${name} | `)).length, name).toBe(1);
});

test('names are unique', () => {
  const names = recipes.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

describe.each(recipes.map((recipe) => ({ recipe, name: recipe.name })))('$name', ({ recipe }) => {
  test('begins from a policy that is shipped, with the main set among its sets', () => {
    expect(existsSync(`models/${recipe.startPolicy}/model.safetensors`)).toBe(true);
    expect(Object.keys(recipe.sets)).toContain(MAIN_SET);
    const sets = Object.values(recipe.roles).map(({ set }) => set ?? MAIN_SET);
    for (const set of sets) expect(Object.keys(recipe.sets)).toContain(set);
    for (const { average } of Object.values(recipe.sets))
      if (average) expect(Object.keys(recipe.sets)).toContain(average.of);
  });

  test('freezes only roles it has, and binds only those', () => {
    const roles = Object.keys(recipe.roles);
    for (const role of recipe.freezable ?? []) expect(roles).toContain(role);
    for (const variant of [undefined, ...Object.keys(recipe.variants ?? {})]) {
      const { settings } = runOf(shipped, {
        recipe: recipe.name,
        seed: 0,
        rounds: 1,
        freeze: [],
        ...(variant ? { variant } : {}),
      });
      expect(Object.keys(bindingsOf(recipe, settings)).sort()).toEqual([...roles].sort());
    }
  });

  test('says what each of its figures means, in a sentence', () => {
    for (const meaning of Object.values(recipe.figures ?? {})) expect(meaning).toMatch(/^[A-Z].{15,}\.$/s);
  });

  test('gives the points of its questions for every share of an evaluation, so that a change can be tested', async () => {
    const { heldOut, judge, tallies = {} } = await evaluateWritten(recipe, 40, () => '');
    const { accuracy, sampled, worked, forcedWorked } = heldOut;
    const measured = { accuracy, sampled, worked, forcedWorked, judge: judge.fixed };
    for (const [figure, value] of Object.entries(measured))
      if (value !== null) expect(Object.keys(tallies), figure).toContain(figure);
  });

  test('says what it is', () => {
    expect(recipe.summary.length).toBeGreaterThan(80);
    for (const { description } of [...Object.values(recipe.rewards), ...Object.values(recipe.roles)])
      expect(description.length).toBeGreaterThan(2);
  });
});
