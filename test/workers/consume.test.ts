/** The one way to consume a queue: nothing acknowledged before it is stored, poison kept apart, failures by kind. */
import type { Message } from '@cloudflare/workers-types';
import * as v from 'valibot';
import { beforeEach, expect, test, vi } from 'vitest';
import type { Usage } from '../../core/cost/usage.ts';
import { RollmeshError } from '../../core/errors.ts';
import { consume, MAX_DELIVERIES } from '../../workers/shared/consume.ts';
import type { Failure } from '../../workers/store/schema.ts';

const schema = v.object({ round: v.string(), group: v.string() });
type Body = v.InferOutput<typeof schema>;

// The consumer logs every end of a message; what it logs is not asked here.
beforeEach(() => {
  for (const level of ['info', 'warn', 'error'] as const) vi.spyOn(console, level).mockReturnValue();
});

/** A batch whose messages note what became of them: the first call wins, as on the platform. */
function batchOf(bodies: readonly unknown[], attempts = 1) {
  const ends = new Map<number, string>();
  const messages = bodies.map((body, i): Message => {
    const end = (what: string) => {
      if (!ends.has(i)) ends.set(i, what);
    };
    return {
      id: String(i),
      timestamp: new Date(0),
      body,
      attempts,
      ack: () => end('ack'),
      retry: (options) => end(`retry ${options?.delaySeconds}`),
    };
  });
  return { messages, ends: () => bodies.map((_, i) => ends.get(i)) };
}

async function run(
  batch: ReturnType<typeof batchOf>,
  work: (round: string, bodies: readonly Body[]) => Promise<void>,
  storeUndeliverable?: () => Promise<void>,
  account: (round: string, used: Usage) => Promise<void> = async () => {},
) {
  const buried: [unknown, number, Failure][] = [];
  await consume(
    {
      stage: 'test',
      schema,
      work: async (round, bodies) => {
        await work(round, bodies);
        return [];
      },
      storeUndeliverable: async (body, attempts, failure) => {
        await storeUndeliverable?.();
        buried.push([body, attempts, failure]);
      },
      account,
      retrySeconds: 10,
    },
    batch.messages,
  );
  return buried;
}

const poison = (kind: 'retry' | 'give-up') => async (_: string, bodies: readonly Body[]) => {
  if (bodies.some(({ group }) => group === 'poison'))
    throw new RollmeshError(kind, 'x.poison', 'It is poison.');
};

test('messages of a round are worked off together, rounds apart', async () => {
  const calls: [string, string[]][] = [];
  const batch = batchOf([
    { round: 'a', group: '1' },
    { round: 'b', group: '2' },
    { round: 'a', group: '3' },
  ]);
  await run(batch, async (round, bodies) => {
    calls.push([round, bodies.map(({ group }) => group)]);
  });
  expect(calls).toEqual([
    ['a', ['1', '3']],
    ['b', ['2']],
  ]);
  expect(batch.ends()).toEqual(['ack', 'ack', 'ack']);
});

test('one poison message takes no other with it and is buried with its cause', async () => {
  const batch = batchOf([
    { round: 'a', group: '1' },
    { round: 'a', group: 'poison' },
    { round: 'a', group: '3' },
  ]);
  const buried = await run(batch, poison('give-up'));
  expect(batch.ends()).toEqual(['ack', 'ack', 'ack']);
  expect(buried).toEqual([
    [{ round: 'a', group: 'poison' }, 1, { kind: 'give-up', code: 'x.poison', message: 'It is poison.' }],
  ]);
});

test('what may work later is tried again, ever later, and in the end buried as well', async () => {
  const body = { round: 'a', group: 'poison' };
  const waits = [];
  for (let attempts = 1; attempts < MAX_DELIVERIES; attempts++) {
    const batch = batchOf([body], attempts);
    expect(await run(batch, poison('retry'))).toEqual([]);
    waits.push(batch.ends()[0]);
  }
  expect(waits).toEqual(['retry 10', 'retry 20', 'retry 40', 'retry 80', 'retry 160']);
  const last = batchOf([body], MAX_DELIVERIES);
  expect(await run(last, poison('retry'))).toHaveLength(1);
  expect(last.ends()).toEqual(['ack']);
});

test('an error nobody expected is worth another try, and its message is cut short', async () => {
  const work = async () => {
    throw new Error('x'.repeat(5000));
  };
  const first = batchOf([{ round: 'a', group: '1' }]);
  expect(await run(first, work)).toEqual([]);
  expect(first.ends()).toEqual(['retry 10']);
  const last = batchOf([{ round: 'a', group: '1' }], MAX_DELIVERIES);
  const [[, , failure] = []] = await run(last, work);
  expect(failure).toMatchObject({ kind: 'retry', code: 'internal' });
  expect(failure?.message).toHaveLength(500);
});

test('what cannot be read is buried, and the rest of the batch is done', async () => {
  const batch = batchOf([null, { round: 'a' }, 'text', { round: 'a', group: '1' }]);
  const buried = await run(batch, async () => {});
  expect(buried.map(([body, , { code }]) => [body, code])).toEqual([
    [null, 'message.unreadable'],
    [{ round: 'a' }, 'message.unreadable'],
    ['text', 'message.unreadable'],
  ]);
  expect(batch.ends()).toEqual(['ack', 'ack', 'ack', 'ack']);
});

test('where even the burial fails the message is not lost', async () => {
  const batch = batchOf([{ round: 'a', group: 'poison' }]);
  await run(batch, poison('give-up'), async () => {
    throw new Error('D1 is down');
  });
  expect(batch.ends()).toEqual(['retry 10']);
});

test('each round is told what it used: a request a batch, an operation a message read, one a message deleted', async () => {
  const bodies = ['1', '2', 'poison'].map((group) => ({ round: 'a', group }));
  const batch = batchOf([...bodies, { round: 'b', group: '4' }]);
  const told = new Map<string, Usage>();
  await run(batch, poison('retry'), undefined, async (round, used) => void told.set(round, used));
  // Three read, two deleted: the third comes again. Then one read and deleted.
  expect(told.get('a')).toMatchObject({ requests: 1, queueOperations: 5 });
  expect(told.get('b')).toMatchObject({ requests: 1, queueOperations: 2 });
});

test('books that cannot be written keep nobody from working', async () => {
  const batch = batchOf([{ round: 'a', group: '1' }]);
  await run(
    batch,
    async () => {},
    undefined,
    () => Promise.reject(new Error('D1 is overloaded')),
  );
  expect(batch.ends()).toEqual(['ack']);
});
