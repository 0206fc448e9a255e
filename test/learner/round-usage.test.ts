/** What a round cost on the learner's side: counted by the clients, split between rounds by hand here. */
import { expect, test } from 'vitest';
import { NOTHING_USED } from '../../core/cost/usage.ts';
import { RoundUsage } from '../../learner/loop/round-usage.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { PullQueue } from '../../workers/api/pull-client.ts';
import { Tally } from '../../workers/api/tally.ts';

const message = (bytes: number) => ({
  id: 'm',
  body: 'x'.repeat(bytes),
  timestamp_ms: 0,
  attempts: 1,
  lease_id: 'l',
});

test('an empty pull is an operation, a message one for each 64 kB, a deletion one', async () => {
  const tally = new Tally();
  const answers = [[], [message(10), message(70_000)]];
  const queue = new PullQueue({
    baseUrl: 'http://queue',
    accountId: 'a',
    queueId: 'q',
    token: 't',
    tally,
    fetch: async () =>
      Response.json({ success: true, result: { messages: answers.shift() ?? [], message_backlog_count: 0 } }),
  });
  await queue.pull(1000);
  expect(tally.total.queueOperations).toBe(1);
  await queue.pull(1000);
  expect(tally.total.queueOperations).toBe(4);
  await queue.ack(['l', 'm']);
  expect(tally.total).toEqual({ ...NOTHING_USED, queueOperations: 6 });
});

test('answers of the gateway say what they used; one that does not say is a request', async () => {
  const tally = new Tally();
  const used = { ...NOTHING_USED, requests: 1, d1RowsRead: 3, r2ClassB: 2 };
  const headers: Record<string, string>[] = [
    { 'x-rollmesh-used': JSON.stringify(used) },
    {},
    { 'x-rollmesh-used': '{"requests":-1}' },
  ];
  const gateway = new GatewayClient({
    url: 'http://mesh',
    token: 't',
    tally,
    fetch: async () => Response.json({ policies: [] }, { headers: headers.shift() ?? {} }),
  });
  for (let i = 0; i < 3; i++) await gateway.listPolicies();
  expect(tally.total).toEqual({ ...NOTHING_USED, requests: 3, d1RowsRead: 3, r2ClassB: 2 });
});

test('a report counts itself and what it will delete; pulls that found nothing are apart from the round', () => {
  const tally = new Tally();
  const books = new RoundUsage(tally);
  tally.add({ queueOperations: 5, requests: 2 });
  for (let i = 0; i < 3; i++) books.foundNothing();
  expect(books.used(64)).toEqual({
    used: { ...NOTHING_USED, requests: 3, queueOperations: 66 },
    idle: { ...NOTHING_USED, queueOperations: 3 },
  });
  tally.add({ queueOperations: 64, requests: 1 });
  // What the next round caused before this one was closed.
  tally.add({ queueOperations: 2, requests: 5 });
  books.foundNothing();
  books.close();
  tally.add({ queueOperations: 1 });
  expect(books.used(0)).toEqual({
    used: { ...NOTHING_USED, requests: 6, queueOperations: 2 },
    idle: { ...NOTHING_USED, queueOperations: 1 },
  });
  expect(new RoundUsage(undefined).used(3)).toEqual({});
});
