/** The clock's patience with a round that takes its mesh down: counted over starts, on a real D1. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shipped } from '../../recipes/index.ts';
import { reconcile } from '../../workers/gateway/reconcile.ts';
import type { Services } from '../../workers/gateway/services.ts';
import { admitTasks, getRound } from '../../workers/store/rounds.ts';
import { getRun } from '../../workers/store/runs.ts';
import { openStore, orderRun, tasksOf } from '../store/fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const HOUR = 3_600_000;

/** One tick of a mesh that started at `since`; its stages never get anywhere. Returns the messages that were sent. */
async function tick(now: number, since: number): Promise<object[]> {
  const sent: object[] = [];
  const sendBatch = async (messages: Iterable<{ readonly body: object }>) => {
    for (const { body } of messages) sent.push(body);
  };
  const queue = { sendBatch };
  const services = {
    db: store.db,
    bucket: store.bucket,
    queues: { propose: queue, rollout: queue, judge: queue, scored: queue },
    recipes: shipped,
    settings: {
      stallMs: HOUR,
      episodeMs: HOUR,
      queuesSince: since,
      retention: null,
      local: true,
      defaultStartPolicy: 'seed',
    },
    now: () => now,
  };
  await reconcile(services as unknown as Services);
  return sent;
}

test('a round that hangs its mesh at every start is given up after a few, with the reason', async () => {
  const round = await orderRun(store.db, 1);
  let starts = 0;
  for (; (await getRound(store.db, round.id))?.state === 'proposing' && starts < 50; starts++)
    // Driven once; then the mesh hangs, and is started again a minute later.
    await tick(100_000 + starts * 60_000, 90_000 + starts * 60_000);
  expect(starts).toBe(7);
  expect(await getRound(store.db, round.id)).toMatchObject({
    state: 'failed',
    reason: 'No progress in state proposing after it was driven on again and again.',
  });
  expect((await getRun(store.db, round.run))?.state).toBe('stopped');
});

test('in one mesh a tick counts once', async () => {
  const round = await orderRun(store.db, 2);
  for (let i = 1; i <= 3; i++) {
    // What a proposer may have begun before is to be gone on with.
    expect(await tick(10 * HOUR * i, 0)).toEqual([{ v: 1, to: 'propose', round: round.id, begun: true }]);
    expect((await getRound(store.db, round.id))?.redrives).toBe(i);
  }
});

test('groups are sent again with the word that they may have been begun, in the rollout and after it', async () => {
  const { id: round } = await orderRun(store.db, 3);
  await admitTasks(store.db, round, tasksOf(2), 2, 40 * HOUR);
  const sent = (await tick(50 * HOUR, 0)).filter((message) => 'group' in message);
  expect(sent).toEqual(
    tasksOf(2).map(({ group, index }) => ({
      v: 1,
      to: 'rollout',
      round,
      group,
      index,
      begun: true,
      again: true,
    })),
  );
});
