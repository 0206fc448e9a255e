/** The tasks of deleted runs against a real D1 and R2: an object goes with the last run that needs it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runIdOf } from '../../core/schema/round.ts';
import { markDeleted, removeTasks } from '../../workers/store/label-run.ts';
import { orderRounds } from '../../workers/store/runs.ts';
import { openStore, settings } from './fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(64)) as [
  string,
  string,
  string,
  string,
];
/** The recipes that the mesh knows, with what those on files name. It has forgotten `old-1`. */
const RECIPES = [{ name: 'grpo-1', stored: [A, B] }, { name: 'dpo-2', stored: [B, C] }, { name: 'trio' }];

async function order(seed: number, recipe: string): Promise<string> {
  const asked = { ...settings(seed), recipe };
  await orderRounds(store.db, { delivery: `d-${seed}`, settings: asked, roles: {}, rounds: 1, now: 1 });
  return runIdOf(asked);
}

async function remove(run: string, recipes: Parameters<typeof removeTasks>[3] = RECIPES): Promise<void> {
  expect(await markDeleted(store.db, run, 5)).toBe(true);
  await removeTasks(store.db, store.bucket, run, recipes);
}

async function left(): Promise<string[]> {
  const { objects } = await store.bucket.list({ prefix: 'tasks/' });
  return objects.map(({ key }) => key.slice('tasks/'.length, 'tasks/'.length + 1)).sort();
}

test('an object of tasks goes with the last run that needs it, and what a run of a forgotten recipe may need stays', async () => {
  for (const sha256 of [A, B, C, D]) await store.bucket.put(`tasks/${sha256}`, 'tasks');
  const runs = {
    first: await order(1, 'grpo-1'),
    second: await order(2, 'grpo-1'),
    other: await order(3, 'dpo-2'),
    none: await order(4, 'trio'),
  };
  // The second run is on the same files.
  await remove(runs.first);
  expect(await left()).toEqual(['a', 'b', 'c', 'd']);
  await remove(runs.none);
  expect(await left()).toEqual(['a', 'b', 'c', 'd']);
  // One shard of them is in the file of another run as well.
  await remove(runs.second);
  expect(await left()).toEqual(['b', 'c', 'd']);
  // Safe to repeat: the object of the run that is left stays.
  await remove(runs.second);
  expect(await left()).toEqual(['b', 'c', 'd']);

  const old = await order(5, 'old-1');
  await remove(runs.other);
  expect(await left()).toEqual(['b', 'c', 'd']);
  await remove(old);
  expect(await left()).toEqual(['b', 'c', 'd']);
  // With the last run of it gone, the next call removes what waited.
  await remove(runs.other);
  expect(await left()).toEqual(['d']);
});

test('what a recipe needs that was deployed and never ordered stays for its first run', async () => {
  for (const sha256 of [A, B]) await store.bucket.put(`tasks/${sha256}`, 'tasks');
  const run = await order(6, 'grpo-1');
  await remove(run, [...RECIPES, { name: 'sft-3', stored: [B] }]);
  expect(await left()).toEqual(['b', 'd']);
});
