/** What a node fetches of weights that are made by deltas, and what it refuses. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { identityOf } from '../../core/audit/work-seal.ts';
import { RollmeshError } from '../../core/errors.ts';
import { writeDelta } from '../../core/policy/delta.ts';
import type { LeasedFile, SamplingRequest } from '../../core/schema/work.ts';
import { lend } from '../../local/node/lend.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const of = (bytes: Uint8Array) => ({ sha256: sha256(bytes), bytes: bytes.length });
const config = new TextEncoder().encode('{}');
/** The weights of versions 1 to 4; all but the first are made by deltas. */
const weights = [0, 1, 2, 3].map((version) => {
  const out = new Uint8Array(64).fill(9);
  out.fill(version, 20, 24 + 2 * version);
  return out;
});
const deltas = weights.slice(1).map((bytes, i) => {
  const base = weights[i]!;
  return writeDelta({ bytes: base, sha256: sha256(base) }, { bytes, sha256: sha256(bytes) }, 1000)!;
});
const stored = new Map([config, weights[0]!, ...deltas].map((bytes) => [sha256(bytes), bytes]));

/** A request that samples with a version. */
function requestOf(version: number): SamplingRequest {
  const leased: LeasedFile = {
    file: 'model.safetensors',
    ...of(weights[version - 1]!),
    version,
    ...(version > 1
      ? {
          replay: {
            anchor: { ...of(weights[0]!), version: 1 },
            deltas: deltas.slice(0, version - 1).map((delta, i) => ({
              ...of(delta),
              version: i + 2,
              result: sha256(weights[i + 1]!),
            })),
          },
        }
      : {}),
  };
  return {
    policy: { name: 'p', version },
    config: { file: 'config.json', ...of(config), version: 0 },
    weights: leased,
    vocabSize: 4,
    prompts: [{ ids: [1], sampleIds: ['a'.repeat(32)] }],
    settings: { maxNew: 1, temperature: 1, stop: [] },
  };
}

/** Lends to a mesh that asks for these, one after another. @returns what was fetched for each, and the weights that it was computed with */
async function lendTo(requests: readonly SamplingRequest[], files: ReadonlyMap<string, Uint8Array> = stored) {
  const stop = new AbortController();
  const fetched: string[][] = [];
  const computed: string[] = [];
  let asked = 0;
  let free = true;
  const ended = lend({
    client: {
      lease: async () => {
        const request = free ? requests[asked] : undefined;
        if (!request) {
          if (asked === requests.length && free) stop.abort();
          return { node: 'n'.repeat(32), lease: null, leaseMs: 60_000, work: [] };
        }
        asked++;
        free = false;
        fetched.push([]);
        return { node: 'n', lease: `l${asked}`, leaseMs: 60_000, work: [{ id: `w${asked}`, request }] };
      },
      heartbeat: async () => ({ leaseMs: 60_000, requests: 1 }),
      release: async () => undefined,
      file: async (_lease, { file, sha256: hash }) => {
        fetched.at(-1)!.push(file);
        return files.get(hash)!;
      },
      results: async () => {
        free = true;
        return new Map();
      },
    },
    identity: await identityOf(`${'0'.repeat(32)}.${'1'.repeat(64)}`),
    order: { kind: 'process', engines: ['kernels'], weights: [] },
    threads: [
      async ([request], bytes) => {
        computed.push(sha256(bytes[request!.weights.sha256]!));
        return [[[{ ids: [1], logprobs: [-1], stopped: true }]]];
      },
    ],
    events: { answered: () => undefined, trouble: () => undefined },
    signal: stop.signal,
    idleMs: 1,
  });
  await ended;
  return { fetched, computed };
}

test('a node that follows fetches one delta a version, and one that comes late the anchor and all deltas', async () => {
  const following = await lendTo([1, 2, 3, 4].map(requestOf));
  expect(following.computed).toEqual(weights.map(sha256));
  expect(following.fetched).toEqual([
    ['config.json', 'model.safetensors'],
    ['model.safetensors.delta-0'],
    ['model.safetensors.delta-1'],
    ['model.safetensors.delta-2'],
  ]);
  const late = await lendTo([requestOf(4), requestOf(2)]);
  expect(late.computed).toEqual([sha256(weights[3]!), sha256(weights[1]!)]);
  expect(late.fetched).toEqual([
    [
      'config.json',
      'model.safetensors',
      'model.safetensors.delta-0',
      'model.safetensors.delta-1',
      'model.safetensors.delta-2',
    ],
    ['model.safetensors', 'model.safetensors.delta-0'],
  ]);
  // One that missed a version fetches both of its deltas.
  const missed = await lendTo([requestOf(2), requestOf(4)]);
  expect(missed.computed.at(-1)).toBe(sha256(weights[3]!));
  expect(missed.fetched.at(-1)).toEqual(['model.safetensors.delta-1', 'model.safetensors.delta-2']);
});

test('a node computes nothing by a delta that is torn, of another place or of another base', async () => {
  const [first, second] = deltas;
  const codeOf = (bytes: Uint8Array) =>
    lendTo([requestOf(3)], new Map([...stored, [sha256(second!), bytes]])).then(
      ({ computed }) => computed,
      (error) => (error instanceof RollmeshError ? error.code : String(error)),
    );
  expect(await codeOf(second!)).toEqual([sha256(weights[2]!)]);
  expect(await codeOf(second!.subarray(1))).toBe('delta.torn');
  expect(await codeOf(first!)).toBe('delta.order');
  expect(await codeOf(deltas[2]!)).toBe('delta.base');
  const turned = second!.slice();
  turned[turned.length - 1]! ^= 4;
  expect(await codeOf(turned)).toBe('delta.result');
});
