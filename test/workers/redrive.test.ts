/** The clock's patience with a round that takes its mesh down: counted over starts, on a real D1. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shipped } from '../../recipes/index.ts';
import { getRound } from '../../store/rounds.ts';
import { getRun } from '../../store/runs.ts';
import { reconcile } from '../../workers/gateway/reconcile.ts';
import type { Services } from '../../workers/gateway/services.ts';
import { openStore, orderRun } from '../store/fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const HOUR = 3_600_000;

/** One tick of a mesh that started at `since`; its proposer never gets anywhere. Returns the messages that were sent. */
async function tick(now: number, since: number): Promise<number> {
  let sent = 0;
  const sendBatch = async (messages: Iterable<unknown>) => {
    sent += [...messages].length;
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
    expect(await tick(10 * HOUR * i, 0)).toBe(1);
    expect((await getRound(store.db, round.id))?.redrives).toBe(i);
  }
});
