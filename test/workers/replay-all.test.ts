/** All dead letters are sent again, however many of them are refused. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { letterId, storeDeadLetter } from '../../workers/store/dead-letters.ts';
import { failRound, getRound } from '../../workers/store/rounds.ts';
import { idOf, openStore, orderRun } from '../store/fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  vi.spyOn(console, 'info').mockImplementation(() => {});
  store = await openStore();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await store.close();
});

test('letters of rounds that have ended do not hide an older one whose round can be opened again', async () => {
  const token = 'the-learners-token'.padEnd(64, '0');
  const queue = { sendBatch: async () => {} };
  const free = { limit: async () => ({ success: true }) };
  // Not by its literal name, since the Workers are compiled against other types than the tests.
  const path: string = '../../workers/gateway/app.ts';
  const { gatewayApp } = (await import(path)) as {
    gatewayApp: (services: object) => { request: (path: string, init: object) => Promise<Response> };
  };
  const app = gatewayApp({
    db: store.db,
    queues: { propose: queue, rollout: queue, judge: queue, scored: queue },
    settings: { local: true, pages: [] },
    secrets: { read: [], learner: [token] },
    limits: { reads: free, hooks: free },
    now: () => 1000,
  });
  const fetched = (url: string | URL | Request, init?: RequestInit) => app.request(String(url), init ?? {});
  const client = new GatewayClient({ url: 'http://mesh', token, fetch: fetched });

  const round = await orderRun(store.db, 1);
  await failRound(store.db, round.id, ['proposing'], 'no model', 3);
  const stored = (of: string, at: number) => {
    const body = { v: 1, round: of };
    const id = letterId('propose', body);
    const why = { attempts: 6, kind: 'give-up', code: 'x', cause: 'y', group: null } as const;
    return storeDeadLetter(store.db, { id, queue: 'propose', body, round: of, at, ...why });
  };
  await stored(round.id, 10);
  // As many in one moment as a page holds, and one more.
  for (let i = 0; i < 101; i++) await stored(idOf(i), i === 0 ? 11 : 20);
  const results = await client.replayDeadLetters();
  expect(new Set(results.map(({ id }) => id)).size).toBe(102);
  expect(results.map(({ state }) => state)).toEqual([...Array(101).fill('refused'), 'sent']);
  expect((await getRound(store.db, round.id))?.state).toBe('proposing');
});
