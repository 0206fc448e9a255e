/** What must hold for every recipe by its definition alone: arms, roles, sets and starts that exist, and words for all of it. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { expectExplained } from '../../cli/claims/explained.ts';
import { claimOf, seedsOf } from '../../core/claims/claim.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { ownFigures, type Summary } from '../../core/schema/summary.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';

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
    for (const role of recipe.freezable) expect(roles).toContain(role);
    for (const variant of [undefined, ...Object.keys(recipe.variants)]) {
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

  test('every arm of its claim can be ordered, under a policy of its own', () => {
    const claim = claimOf(recipe);
    const { arms, conditions } = claim;
    const orders = arms.map(({ reward, variant, freeze = [] }) =>
      runOf(shipped, {
        recipe: recipe.name,
        seed: 0,
        rounds: 1,
        freeze: [...freeze],
        ...(reward ? { rewardFunction: reward } : {}),
        ...(variant ? { variant } : {}),
      }),
    );
    const names = orders.map(({ settings }) =>
      JSON.stringify([settings.rewardFunction, settings.variant, settings.freeze]),
    );
    expect(new Set(names).size).toBe(arms.length);
    expect(new Set(arms.map(({ name }) => name)).size).toBe(arms.length);
    expect(conditions.length).toBeGreaterThan(0);
    expect(seedsOf(claim).length).toBeGreaterThanOrEqual(8);
  });

  test('says what each figure of its record means, in a sentence', () => {
    const { figures = {} } = recipe;
    for (const meaning of Object.values(figures)) expect(meaning).toMatch(/^[A-Z].{15,}\.$/s);
    const record = `claims/${recipe.name}.json`;
    // A claim that waits for its run has no record yet.
    if (!existsSync(record)) return;
    const { arms } = JSON.parse(readFileSync(record, 'utf8')) as {
      arms: { runs: Pick<Summary, 'heldout' | 'monitors'>[] }[];
    };
    const reported = arms.flatMap(({ runs }) => runs.flatMap(ownFigures));
    expectExplained(recipe, reported);
  });

  test('says what it is', () => {
    expect(recipe.summary.length).toBeGreaterThan(80);
    for (const { description } of [
      ...Object.values(recipe.rewards),
      ...Object.values(recipe.roles),
      ...claimOf(recipe).arms,
    ])
      expect(description.length).toBeGreaterThan(2);
  });
});
