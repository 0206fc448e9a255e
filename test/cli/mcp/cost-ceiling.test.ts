/** What an agent may order: sums by hand. */
import { expect, test } from 'vitest';
import { CostCeiling } from '../../../cli/mcp/cost-ceiling.ts';

/** A mesh with one run of `trio`, 4 × 2 samples a round, whose last rounds cost so many dollars. */
const meshOf = (...dollars: readonly number[]) =>
  ({
    listRuns: async () => [{ id: 'a', settings: { recipe: 'trio', tasks: 4, groupSize: 2 } }],
    roundsUnderWay: async () => dollars.map((total) => ({ state: 'done', usage: { cost: { total } } })),
  }) as never;
const order = { recipe: 'trio', rounds: 1, tasks: 4, groupSize: 2 };

test('an order costs what the dearest of the last rounds cost, by samples', async () => {
  const costs = new CostCeiling(10);
  // Three rounds of 16 samples are six times the dearer round of eight.
  expect(await costs.admit(meshOf(0.3, 0.6), { ...order, tasks: 8, rounds: 3 })).toBeCloseTo(3.6, 9);
});

test('orders together stay under the ceiling, and a refused one is not counted', async () => {
  const costs = new CostCeiling(1);
  const mesh = meshOf(0.3);
  expect(await costs.admit(mesh, { ...order, rounds: 2 })).toBeCloseTo(0.6, 9);
  await expect(costs.admit(mesh, { ...order, rounds: 2 })).rejects.toThrow(
    'This order would cost about $0.60, and $0.60 are ordered already. Expected at most $1.00 in all.',
  );
  expect(await costs.admit(mesh, order)).toBeCloseTo(0.3, 9);
});

test('a recipe without a bill gets one round, once', async () => {
  const costs = new CostCeiling(1);
  await expect(costs.admit(meshOf(), { ...order, rounds: 2 })).rejects.toMatchObject({
    code: 'mcp.first-round',
  });
  expect(await costs.admit(meshOf(), order)).toBeNull();
  await expect(costs.admit(meshOf(), order)).rejects.toThrow('wait until it is done');
  expect(await costs.admit(meshOf(0.3), order)).toBeCloseTo(0.3, 9);
});

test('an order that the mesh did not take is not counted, nor as the first of its recipe', async () => {
  const costs = new CostCeiling(0.5);
  const first = await costs.admit(meshOf(), order);
  costs.withdraw(order, first);
  expect(await costs.admit(meshOf(), order)).toBeNull();
  const second = await costs.admit(meshOf(0.3), order);
  costs.withdraw(order, second);
  expect(await costs.admit(meshOf(0.3), order)).toBeCloseTo(0.3, 9);
  await expect(costs.admit(meshOf(0.3), order)).rejects.toMatchObject({ code: 'mcp.ceiling' });
});
