/** Metered bindings over a real D1 and R2: what they count is what was done, and they behave as the bindings do. */
import type { Queue } from '@cloudflare/workers-types';
import * as v from 'valibot';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { NOTHING_USED, type Usage } from '../../core/cost/usage.ts';
import { countUsed, metered, waiting } from '../../workers/shared/meter.ts';
import { meteredD1, meteredQueue, meteredR2 } from '../../workers/shared/metered-bindings.ts';
import { openDatabase, writeAll } from '../../workers/store/database.ts';
import { countGroups, groupsOf, markScored, rolloutRows, tasksOfRows } from '../../workers/store/groups.ts';
import { putJsonOnce, readJson } from '../../workers/store/objects.ts';
import { listPolicies, versionsOf } from '../../workers/store/policies.ts';
import { admitTasks, getRound } from '../../workers/store/rounds.ts';
import { meshStatistics } from '../../workers/store/statistics.ts';
import { addUsed, setUsed, usageOf } from '../../workers/store/usage.ts';
import { openStore, orderRun, tasksOf } from '../store/fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const usedBy = async (work: () => Promise<unknown>): Promise<Usage> => {
  const { result, used } = await metered(work, { exact: true });
  if (result.status === 'rejected') throw result.reason;
  return used;
};

describe('D1', () => {
  test('every kind of query answers as without a meter', async () => {
    const round = await orderRun(store.db, 901);
    await admitTasks(store.db, round.id, tasksOf(3), 3, 4);
    const counted = openDatabase(meteredD1(store.d1));
    for (const ask of [getRound, groupsOf] as const)
      expect(await ask(counted, round.id)).toEqual(await ask(store.db, round.id));
    expect(tasksOfRows(await rolloutRows(counted, round.id, [tasksOf(1)[0]!.group]))).toEqual([
      tasksOf(1)[0],
    ]);
    expect(await countGroups(counted, [round.id])).toEqual(await countGroups(store.db, [round.id]));
    expect(await listPolicies(counted)).toEqual(await listPolicies(store.db));
    expect(await versionsOf(counted, 'p-901', 9)).toEqual(await versionsOf(store.db, 'p-901', 9));
    expect(await meshStatistics(counted)).toEqual(await meshStatistics(store.db));
  });

  test('rows are those that D1 itself reports, and outside of a meter nothing is counted', async () => {
    const round = await orderRun(store.db, 902);
    let reported = 0;
    const spied = Object.assign(Object.create(store.d1), {
      prepare: (query: string) => store.d1.prepare(query),
      batch: async (statements: Parameters<typeof store.d1.batch>[0]) => {
        const results = await store.d1.batch(statements);
        reported += results.reduce((sum, { meta }) => sum + meta.rows_written, 0);
        return results;
      },
    });
    const counted = openDatabase(meteredD1(spied));
    const used = await usedBy(() => admitTasks(counted, round.id, tasksOf(8), 9, 4));
    expect(used.d1RowsWritten).toBe(reported);
    // Row and key of eight groups; the round and its index by stage.
    expect(used.d1RowsWritten).toBe(18);
    await markScored(counted, round.id, [], 5);
    expect((await usedBy(async () => undefined)).d1RowsWritten).toBe(0);
  });
});

test('R2: classes and bytes; a put that its condition refuses is an operation too', async () => {
  const bucket = meteredR2(store.bucket);
  const value = { text: 'x'.repeat(88) };
  // {"text":"…"} is 88 + 11 bytes.
  const used = await usedBy(async () => {
    expect(await putJsonOnce(bucket, 'a', value)).toBe(true);
    expect(await putJsonOnce(bucket, 'a', value)).toBe(false);
    expect(await readJson(bucket, 'a', v.object({ text: v.string() }))).toEqual(value);
    expect(await bucket.head('none')).toBeNull();
    await bucket.list();
    await bucket.delete('a');
  });
  expect({ ...used, cpuMs: 0 }).toEqual({
    ...NOTHING_USED,
    r2ClassA: 3,
    r2ClassB: 2,
    r2BytesWritten: 99,
    r2BytesRead: 99,
  });
});

test('a queue: an operation for each 64 kB of each message', async () => {
  const sent: unknown[] = [];
  const queue = meteredQueue({
    send: async (body: unknown) => void sent.push(body),
    sendBatch: async (messages: Iterable<{ body: unknown }>) => void sent.push(...messages),
    metrics: async () => ({ backlogCount: 3 }),
  } as unknown as Queue<unknown>);
  const used = await usedBy(async () => {
    await queue.send({ small: true });
    await queue.sendBatch([{ body: 'x'.repeat(64_000) }, { body: 'y' }]);
  });
  expect(used.queueOperations).toBe(1 + 2 + 1);
  expect(sent).toHaveLength(3);
  expect(await queue.metrics()).toMatchObject({ backlogCount: 3 });
});

describe('time', () => {
  // By a clock of the test's own, since a busy machine stops a process whenever it likes.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout'] }));
  afterEach(() => void vi.useRealTimers());
  const compute = (ms: number) => vi.setSystemTime(Date.now() + ms);
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  test('waits are left out, overlapping ones once; what is computed between them counts', async () => {
    const using = usedBy(async () => {
      compute(60);
      await Promise.all([waiting(() => pause(80)), waiting(() => pause(120))]);
      compute(40);
      await waiting(() => pause(100));
    });
    await vi.runAllTimersAsync();
    const { cpuMs } = await using;
    // The exact meter lets an event pass before each of three readings, which may take 1 ms.
    expect(cpuMs).toBeGreaterThanOrEqual(100);
    expect(cpuMs).toBeLessThanOrEqual(103);
  });

  test('two meters at once count apart, and a failure is counted too', async () => {
    const both = Promise.all([
      metered(
        async () => {
          await waiting(() => pause(5));
          countUsed('requests', 1);
          throw new Error('no');
        },
        { exact: false },
      ),
      metered(async () => countUsed('requests', 10), { exact: false }),
    ]);
    await vi.runAllTimersAsync();
    const [one, two] = await both;
    expect([one.result.status, one.used.requests, two.used.requests]).toEqual(['rejected', 1, 10]);
  });
});

test('books: stages add up, the learner’s part is replaced, a round nobody knows has none', async () => {
  const round = await orderRun(store.db, 903);
  const used = { ...NOTHING_USED, cpuMs: 1.6, requests: 1 };
  await addUsed(store.db, round.id, 'rollout', used);
  await addUsed(store.db, round.id, 'rollout', used);
  for (const requests of [5, 7])
    await writeAll(store.db, [setUsed(round.id, 'learner', { ...used, requests })]);
  await addUsed(store.db, 'f'.repeat(32), 'judge', used);
  const found = await usageOf(store.db, [round.id, 'f'.repeat(32)]);
  // Each addition counts itself: one row written, two read.
  expect(found.get(round.id)).toEqual({
    rollout: { ...NOTHING_USED, requests: 2, cpuMs: 4, d1RowsWritten: 2, d1RowsRead: 4 },
    learner: { ...NOTHING_USED, requests: 7, cpuMs: 2 },
  });
  expect(found.get('f'.repeat(32))).toEqual({});
});
