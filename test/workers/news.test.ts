/** What the clock sends of ended rounds: what is refused again and again keeps nothing else from being sent. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { tellEnds } from '../../workers/gateway/callback.ts';
import type { Services } from '../../workers/gateway/services.ts';
import { sendTelemetry } from '../../workers/gateway/telemetry.ts';
import { failRound, getRound } from '../../workers/store/rounds.ts';
import { openStore, orderRun } from '../store/fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
let ended: string[];
const NOW = 1000;
beforeAll(async () => {
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(console, level).mockImplementation(() => {});
  store = await openStore();
  ended = [];
  for (let seed = 1; seed <= 11; seed++) {
    const { id } = await orderRun(store.db, seed);
    await failRound(store.db, id, ['proposing'], 'test', seed);
    ended.push(id);
  }
});
afterAll(async () => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  await store.close();
});

/** An address that answers with what `status` says of each body. */
const answering = (status: (body: string) => number) =>
  vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) => {
    return new Response(null, { status: status(body) });
  });
const services = (more: object) => ({ db: store.db, now: () => NOW, ...more }) as unknown as Services;

test('without the secret of callbacks the clock goes on', async () => {
  const callback = { url: 'http://receiver', secret: undefined };
  await expect(tellEnds(services({ callback }))).resolves.toBeUndefined();
});

test('ten rounds whose news is refused keep an eleventh waiting for some minutes at most', async () => {
  const newest = ended.at(-1)!;
  answering((body) => (body.includes(newest) ? 200 : 500));
  const callback = { url: 'http://receiver', secret: 'a-secret'.padEnd(32, '0') };
  // Each minute ten of eleven are chosen: the chance that one is left out thirty times is 1 in 10^31.
  for (let minute = 0; minute < 30; minute++) {
    await tellEnds(services({ callback }));
    if ((await getRound(store.db, newest))!.toldAt !== null) break;
  }
  expect((await getRound(store.db, newest))!.toldAt).toBe(NOW);
});

test('a round that an OpenTelemetry endpoint refuses keeps no other from it', async () => {
  const [bad, ...rest] = ended as [string, ...string[]];
  answering((body) => (body.includes(bad) ? 400 : 200));
  const queue = { metrics: async () => ({ backlogCount: 0 }) };
  const queues = { propose: queue, rollout: queue, judge: queue, scored: queue };
  await sendTelemetry(services({ telemetry: { endpoint: 'http://otel', headers: {} }, queues }));
  const traced = async (id: string) => (await getRound(store.db, id))!.tracedAt;
  expect(await Promise.all(rest.map(traced))).toEqual(rest.map(() => NOW));
  expect(await traced(bad)).toBeNull();
});
