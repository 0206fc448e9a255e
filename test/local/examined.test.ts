/** How many held-out tasks an evaluation asks changes nothing of what is trained, in recipes that train on their test tasks too. */
import { expect, test } from 'vitest';
import { HELD_OUT } from '../../core/recipe/split.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import { readStart } from '../../local/find-start.ts';
import { playInProcess } from '../../local/run/in-process.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';

/** The tasks of a round, its version, and how many tasks its start was asked. */
async function played(examined: number) {
  const order = { recipe: 'spine', seed: 3, rounds: 1, tasks: 3, groupSize: 4, freeze: [] };
  const run = runOf(shipped, { ...order, engine: 'kernels' });
  const store = new MemoryRunStore();
  const { policy } = run.settings;
  await store.commitVersion({ name: policy, version: 0 }, await readStart(run.recipe.startPolicy));
  let asked = 0;
  const listener = {
    ...{ started() {}, round() {}, finished() {} },
    evaluatedStart: ({ heldOut }: EvaluationReport) => {
      asked = heldOut.n;
    },
  };
  const device = { device: 'cpu', threads: 1, revectorize: true, evalEvery: 1 } as const;
  await playInProcess(run, device, store, listener, { ...HELD_OUT, examined });
  const { 'model.safetensors': weights } = await store.loadVersion({ name: policy, version: 1 });
  return { asked, weights: Buffer.from(weights!) };
}

test('a run that trains on its test tasks trains on all of them, however few are examined', async () => {
  const [few, more] = [await played(1), await played(2)];
  expect(more.asked).toBe(2 * few.asked);
  expect(more.weights.equals(few.weights)).toBe(true);
});
