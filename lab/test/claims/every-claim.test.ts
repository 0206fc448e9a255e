/** What must hold for every claim by its definition alone: it is a shipped recipe's, and its arms can be ordered and told apart. */
import { readdirSync } from 'node:fs';
import { registry } from 'rollmesh';
import { readStart, runOf } from 'rollmesh/local';
import { describe, expect, test } from 'vitest';
import { HEADLINES } from '../../claims/headlines.ts';
import { claimed } from '../../claims/index.ts';
import { seedsOf, startOfClaim } from '../../rule/claim.ts';

test('every claim is one of a recipe of the package', () => {
  const files = readdirSync('claims').map((file) => file.replace('.ts', ''));
  expect(claimed.recipes.map(({ name }) => name).sort()).toEqual(
    files.filter((name) => !['index', 'headlines'].includes(name)).sort(),
  );
});

describe.each(claimed.recipes.map((recipe) => ({ recipe, name: recipe.name })))('$name', ({ recipe }) => {
  const { claim } = recipe;

  test('every arm can be ordered from the start of the claim, and is an order of its own', async () => {
    // A recipe refuses an order from a start that does not speak its family and its roles.
    const known = registry([{ ...recipe, startPolicy: startOfClaim(recipe) }]);
    const orders = claim.arms.map(({ reward, variant, freeze = [] }) =>
      runOf(known, {
        ...{ recipe: recipe.name, seed: 0, rounds: 1, freeze: [...freeze] },
        ...(reward ? { rewardFunction: reward } : {}),
        ...(variant ? { variant } : {}),
      }),
    );
    const told = orders.map(({ settings: { rewardFunction, variant, freeze } }) =>
      JSON.stringify([rewardFunction, variant, freeze]),
    );
    expect(new Set(told).size).toBe(claim.arms.length);
    expect((await readStart(startOfClaim(recipe)))['model.safetensors']!.length).toBeGreaterThan(0);
  });

  test('arms have names of their own and say what they are; there are conditions, and at least eight seeds', () => {
    expect(new Set(claim.arms.map(({ name }) => name)).size).toBe(claim.arms.length);
    for (const { description } of claim.arms) expect(description.length).toBeGreaterThan(2);
    expect(claim.conditions.length).toBeGreaterThan(0);
    // Without an entry the first condition would make the verdict, chosen by nobody.
    expect(claim.conditions[HEADLINES[recipe.name]!.condition]!.control).toBeUndefined();
    expect(seedsOf(claim).length).toBeGreaterThanOrEqual(8);
  });
});
