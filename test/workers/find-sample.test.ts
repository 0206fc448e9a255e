/** The search for a sample by its id alone, which derives the ids that a round must have: it ends at a bound. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findSample } from '../../workers/gateway/samples.ts';
import { admitTasks } from '../../workers/store/rounds.ts';
import { idOf, openStore, orderRun, tasksOf } from '../store/fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

test('rounds with too many samples are not searched; whoever knows the round names it', async () => {
  const small = await orderRun(store.db, 1);
  await admitTasks(store.db, small.id, tasksOf(4), 4, 3);
  const find = (round?: string) => findSample(store.db, store.bucket, idOf(77), round);
  expect(await find()).toBeNull();
  // Of three roles and 64 samples a group: 3 × 64 × (1 + 8 + 2 × 8) ids for each of 4096 groups.
  await store.db.run(sql`UPDATE rounds SET expected = 4096,
    spec = json_set(spec, '$.settings.tasks', 4096, '$.settings.groupSize', 64) WHERE id = ${small.id}`);
  await expect(find()).rejects.toMatchObject({ kind: 'wrong-input', code: 'sample.search' });
  expect(await find(small.id)).toBeNull();
});
