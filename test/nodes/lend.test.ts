/** The loop of a node over a mesh of one's own: when it asks for leases, and how it returns results. */
import { expect, test } from 'vitest';
import { identityOf, makeNodeKeys } from '../../core/audit/work-seal.ts';
import { RollmeshError } from '../../core/errors.ts';
import type { LeaseAnswer } from '../../core/schema/work.ts';
import { lend } from '../../local/node/lend.ts';

const id = (n: number) => n.toString(16).padStart(32, '0');
const file = (name: 'config.json' | 'model.safetensors') => ({
  file: name,
  sha256: 'a'.repeat(64),
  bytes: 1,
  version: 0,
});

/** A request for one token. */
const request = {
  policy: { name: 'p', version: 0 },
  config: file('config.json'),
  weights: file('model.safetensors'),
  vocabSize: 4,
  prompts: [{ ids: [1], sampleIds: [id(7)] }],
  settings: { maxNew: 1, temperature: 1, stop: [0] },
};

test('a thread whose requests take long leases no more than what it computes, until it is nearly done', async () => {
  const REQUEST_MS = 800;
  const stop = new AbortController();
  const leasedAt: number[] = [];
  let least: number | undefined;
  const spans: [number, number][] = [];
  const { token } = await makeNodeKeys(id(1));
  await lend({
    client: {
      lease: async (order): Promise<LeaseAnswer> => {
        leasedAt.push(performance.now());
        least = order.least;
        const n = leasedAt.length;
        return { node: id(1), lease: id(100 + n), leaseMs: 60_000, work: [{ id: id(200 + n), request }] };
      },
      heartbeat: async () => ({ leaseMs: 60_000, requests: 1 }),
      release: async () => {},
      file: async () => new Uint8Array(1),
      results: async () => {
        if (spans.length >= 5) stop.abort();
        return new Map();
      },
    },
    identity: await identityOf(token),
    order: { kind: 'process', engines: ['onnx'], weights: [] },
    threads: [
      async () => {
        const began = performance.now();
        await new Promise((resolve) => setTimeout(resolve, REQUEST_MS));
        spans.push([began, performance.now()]);
        return [[[{ ids: [0], logprobs: [0], stopped: true }]]];
      },
    ],
    events: { answered: () => {}, trouble: () => {} },
    signal: stop.signal,
    idleMs: 100,
  });
  // The thread was never idle between two requests.
  for (const [i, [began]] of spans.entries())
    if (i > 0) expect(began - spans[i - 1]![1]).toBeLessThan(REQUEST_MS / 2);
  // How long a request takes is known after the first; from the third on, a lease is asked for when the one before is nearly computed.
  for (const [i, [began]] of spans.entries())
    if (i >= 3) expect(began - leasedAt[i]!).toBeLessThan(REQUEST_MS / 2);
  // Others may have what takes a thread longer than a moment.
  expect(least).toBe(1);
});

test('a node of many threads asks one question at a time, and less and less often while there is no work', async () => {
  const stop = new AbortController();
  const askedAt: number[] = [];
  let open = 0;
  const { token } = await makeNodeKeys(id(1));
  setTimeout(() => stop.abort(), 1000);
  await lend({
    client: {
      lease: async (): Promise<LeaseAnswer> => {
        askedAt.push(performance.now());
        expect(++open).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        open--;
        return { node: id(1), lease: null, leaseMs: 60_000, work: [] };
      },
      heartbeat: async () => ({ leaseMs: 60_000, requests: 1 }),
      release: async () => {},
      file: async () => new Uint8Array(1),
      results: async () => new Map(),
    },
    identity: await identityOf(token),
    order: { kind: 'process', engines: ['onnx'], weights: [] },
    threads: Array.from({ length: 8 }, () => async () => []),
    events: { answered: () => {}, trouble: () => {} },
    signal: stop.signal,
    idleMs: 1000,
  });
  // After 50, 100, 200 and 400 ms.
  expect(askedAt.length).toBeGreaterThanOrEqual(3);
  expect(askedAt.length).toBeLessThanOrEqual(5);
});

test('a node that hears of work soon asks again within a quarter of the time that it has waited', async () => {
  const PROPOSED_MS = 900;
  let idle = 0;
  const stop = new AbortController();
  const askedAt: number[] = [];
  const { token } = await makeNodeKeys(id(1));
  const began = performance.now();
  await lend({
    client: {
      lease: async (): Promise<LeaseAnswer> => {
        askedAt.push(performance.now() - began);
        const soon = performance.now() - began < PROPOSED_MS;
        if (!soon) stop.abort();
        return { node: id(1), lease: null, leaseMs: 60_000, work: [], ...(soon ? { soon } : {}) };
      },
      heartbeat: async () => ({ leaseMs: 60_000, requests: 1 }),
      release: async () => {},
      file: async () => new Uint8Array(1),
      results: async () => new Map(),
    },
    identity: await identityOf(token),
    order: { kind: 'process', engines: ['onnx'], weights: [] },
    threads: [async () => []],
    events: { answered: () => {}, trouble: () => {}, idle: () => idle++ },
    signal: stop.signal,
    idleMs: 60_000,
  });
  expect(idle).toBe(askedAt.length);
  // Without it: after 750 and 1550 ms.
  expect(askedAt.at(-1)!).toBeLessThan(PROPOSED_MS + 600);
  // The pauses grow, so that proposals that take long are not asked for all the time.
  expect(askedAt.length).toBeLessThan(15);
});

test('a node whose requests take a moment asks for several at least, once it knows', async () => {
  const stop = new AbortController();
  const least: (number | undefined)[] = [];
  const { token } = await makeNodeKeys(id(1));
  await lend({
    client: {
      lease: async (order): Promise<LeaseAnswer> => {
        const n = least.push(order.least);
        if (n === 10) stop.abort();
        return { node: id(1), lease: id(100 + n), leaseMs: 60_000, work: [{ id: id(200 + n), request }] };
      },
      heartbeat: async () => ({ leaseMs: 60_000, requests: 1 }),
      release: async () => {},
      file: async () => new Uint8Array(1),
      results: async () => new Map(),
    },
    identity: await identityOf(token),
    order: { kind: 'process', engines: ['onnx'], weights: [] },
    threads: [
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return [[[{ ids: [0], logprobs: [0], stopped: true }]]];
      },
    ],
    events: { answered: () => {}, trouble: () => {} },
    signal: stop.signal,
    idleMs: 20,
  });
  expect(least[0]).toBe(1);
  // Five take a hundred milliseconds; a timer may ring late, and a clock of whole milliseconds round down.
  expect(Math.max(...least.map(Number))).toBeGreaterThan(1);
  expect(Math.max(...least.map(Number))).toBeLessThanOrEqual(6);
});

test('the results of a lease go back in one call where its body has room for them, and each is answered for', async () => {
  const stop = new AbortController();
  const sent: number[][] = [];
  const limits: number[] = [];
  const told: string[] = [];
  const { token } = await makeNodeKeys(id(1));
  let given = 0;
  const long = { ids: [1], sampleIds: [id(7)] };
  const REQUESTS = 4;
  // The mesh takes bodies of 4 MiB: sixty thousand tokens fill half of one.
  const tokens = (work: number) => (work >= 300 ? 60_000 : 1);
  await lend({
    client: {
      lease: async ({ limit }): Promise<LeaseAnswer> => {
        limits.push(limit);
        const base = given === 0 ? 200 : 300;
        if (given++ > 1) return { node: id(1), lease: null, leaseMs: 60_000, work: [] };
        const work = Array.from({ length: REQUESTS }, (_, i) => ({
          id: id(base + i),
          request: {
            policy: { name: 'p', version: 0 },
            config: file('config.json'),
            weights: file('model.safetensors'),
            vocabSize: 4,
            prompts: [{ ...long, ids: [base + i] }],
            settings: { maxNew: 1, temperature: 1, stop: [0] },
          },
        }));
        return { node: id(1), lease: id(base), leaseMs: 60_000, work };
      },
      heartbeat: async () => ({ leaseMs: 60_000, requests: 1 }),
      release: async () => {},
      file: async () => new Uint8Array(1),
      results: async ({ results }) => {
        sent.push(results.map(({ work }) => Number.parseInt(work, 16)));
        expect(JSON.stringify(results).length).toBeLessThan(4 * 1024 * 1024);
        return new Map(
          results[0]!.work === id(200)
            ? [[id(200), new RollmeshError('give-up', 'work.answered', 'It was answered.')]]
            : [],
        );
      },
    },
    identity: await identityOf(token),
    order: { kind: 'process', engines: ['onnx'], weights: [] },
    threads: [
      async (requests) =>
        requests.map(({ prompts }) => {
          const length = tokens(prompts[0]!.ids[0]!);
          const completion = {
            ids: Array.from({ length }, () => 100_000),
            logprobs: Array.from({ length }, (_, i) => -Math.PI / (i + 1)),
            stopped: true,
          };
          return [[completion]];
        }),
    ],
    events: {
      answered: ({ samples }) => {
        told.push(`answered ${samples}`);
        if (told.length === 2 * REQUESTS) stop.abort();
      },
      trouble: ({ code }) => told.push(code),
    },
    signal: stop.signal,
    idleMs: 20,
  });
  expect(sent.filter(([work]) => work! < 300)).toEqual([[200, 201, 202, 203]]);
  expect(sent.filter(([work]) => work! >= 300)).toEqual([[300], [301], [302], [303]]);
  expect(told.toSorted()).toEqual([...Array.from({ length: 7 }, () => 'answered 1'), 'work.answered']);
  // Nothing is known of the threads at first; then, that a request takes no time.
  expect(limits[0]).toBe(2);
  expect(limits.at(-1)).toBe(8);
});

test('a node that cannot compute what it leased waits before it leases again', async () => {
  const stop = new AbortController();
  const leasedAt: number[] = [];
  const released: (string | undefined)[] = [];
  const { token } = await makeNodeKeys(id(1));
  await lend({
    client: {
      lease: async (): Promise<LeaseAnswer> => {
        leasedAt.push(performance.now());
        if (leasedAt.length === 3) stop.abort();
        return { node: id(1), lease: id(9), leaseMs: 60_000, work: [{ id: id(8), request }] };
      },
      heartbeat: async () => ({ leaseMs: 60_000, requests: 1 }),
      release: async (lease?: string) => void released.push(lease),
      file: async () => {
        throw new RollmeshError('retry', 'file.hash', 'The file is damaged.');
      },
      results: async () => new Map(),
    },
    identity: await identityOf(token),
    order: { kind: 'process', engines: ['onnx'], weights: [] },
    threads: [async () => []],
    events: { answered: () => {}, trouble: () => {} },
    signal: stop.signal,
    idleMs: 20,
  });
  // A lane holds two leases at most, so that the third is asked for once the first has failed.
  expect(leasedAt[2]! - leasedAt[0]!).toBeGreaterThan(900);
  expect(released).toContain(id(9));
});
