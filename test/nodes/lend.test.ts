/** The loop of a node over a mesh of one's own: when a thread asks for its next lease. */
import { expect, test } from 'vitest';
import type { LeaseAnswer } from '../../core/schema/work.ts';
import { identityOf, makeNodeKeys } from '../../core/work-seal.ts';
import { lend } from '../../node/lend.ts';

const id = (n: number) => n.toString(16).padStart(32, '0');
const file = (name: 'config.json' | 'model.safetensors') => ({
  file: name,
  sha256: 'a'.repeat(64),
  bytes: 1,
  version: 0,
});

test('a thread whose requests take long leases no more than what it computes, until it is nearly done', async () => {
  const REQUEST_MS = 800;
  const stop = new AbortController();
  const leasedAt: number[] = [];
  const spans: [number, number][] = [];
  const { token } = await makeNodeKeys(id(1));
  await lend({
    client: {
      lease: async (): Promise<LeaseAnswer> => {
        leasedAt.push(performance.now());
        const request = {
          policy: { name: 'p', version: 0 },
          config: file('config.json'),
          weights: file('model.safetensors'),
          vocabSize: 4,
          prompts: [{ ids: [1], sampleIds: [id(7)] }],
          settings: { maxNew: 1, temperature: 1, stop: [0] },
        };
        const n = leasedAt.length;
        return { node: id(1), lease: id(100 + n), leaseMs: 60_000, work: [{ id: id(200 + n), request }] };
      },
      heartbeat: async () => ({ leaseMs: 60_000, requests: 1 }),
      release: async () => {},
      file: async () => new Uint8Array(1),
      result: async () => {
        if (spans.length >= 5) stop.abort();
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
});
