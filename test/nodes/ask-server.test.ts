/** A node over a llama-server: what it returns for a lease, and that it gives back what a server of another dialect answers. */
import { expect, test } from 'vitest';
import { identityOf, makeNodeKeys } from '../../core/audit/work-seal.ts';
import { deriveId, sha256Hex } from '../../core/random.ts';
import type { LeaseAnswer, SamplingRequest, WorkResults } from '../../core/schema/work.ts';
import { askingServer, withoutWeights } from '../../local/node/ask-server.ts';
import type { ServerOfNode } from '../../local/node/followed-versions.ts';
import { lend } from '../../local/node/lend.ts';
import { answerAsLlamaCpp, END } from '../infer/remote/llama-cpp-answer.ts';
import { CONFIG_JSON, logprobsAfter, serveLocally } from '../infer/remote/local-server.ts';

const server = serveLocally(answerAsLlamaCpp, 'llama.cpp');

const id = (of: string) => deriveId('ask-server', of);
const config = new TextEncoder().encode(JSON.stringify(CONFIG_JSON));
const request: SamplingRequest = {
  policy: { name: 'far', version: 3 },
  config: { file: 'config.json', sha256: sha256Hex(config), bytes: config.length, version: 0 },
  weights: { file: 'model.safetensors', sha256: 'a'.repeat(64), bytes: 1, version: 3 },
  vocabSize: 32,
  prompts: [
    { ids: [1, 2, 3], sampleIds: ['a', 'b', 'c'].map(id) },
    { ids: [4, 5], sampleIds: [id('d')] },
  ],
  settings: { maxNew: 12, temperature: 1, stop: [7, 8, END] },
};

/** Lends to a mesh that has this one request, until it has its results or the node ends. */
async function lendOnce(dialect: ServerOfNode['dialect']) {
  const stop = new AbortController();
  const leases: LeaseAnswer['work'][] = [[{ id: id('work'), request }]];
  const fetched: string[] = [];
  const released: string[] = [];
  const sent: WorkResults[] = [];
  const { token } = await makeNodeKeys(id('node'));
  const error: unknown = await lend({
    client: {
      lease: async () => {
        const [work] = leases.splice(0, 1);
        return { node: id('node'), lease: work ? id('lease') : null, leaseMs: 60_000, work: work ?? [] };
      },
      heartbeat: async () => ({ leaseMs: 60_000, requests: 1 }),
      release: async (lease) => void (lease === undefined || released.push(lease)),
      file: async (_, { sha256 }) => {
        fetched.push(sha256);
        return config;
      },
      results: async (results) => {
        sent.push(results);
        stop.abort();
        return new Map();
      },
    },
    identity: await identityOf(token),
    order: { kind: 'process', engines: ['onnx'], weights: [], serves: request.policy },
    threads: [askingServer({ ...server.at, dialect })],
    filesOf: withoutWeights,
    events: { answered: () => {}, trouble: () => {} },
    signal: stop.signal,
    idleMs: 20,
  }).catch((reason: unknown) => reason);
  return { error, fetched, released, sent };
}

test('a leased request is answered by a llama-server, with what its policy gives to each token', async () => {
  const { error, fetched, released, sent } = await lendOnce('llama.cpp');
  expect([error, released]).toEqual([undefined, []]);
  // The server has the weights.
  expect(fetched).toEqual([request.config.sha256]);
  expect(sent).toMatchObject([
    { lease: id('lease'), results: [{ work: id('work'), weights: 'a'.repeat(64) }] },
  ]);
  const { completions } = sent[0]!.results[0]!;
  expect(completions.map((row) => row.length)).toEqual([3, 1]);
  for (const [p, row] of completions.entries())
    for (const { ids, logprobs, stopped } of row) {
      expect(ids.findIndex((token) => request.settings.stop.includes(token))).toBe(
        stopped ? ids.length - 1 : -1,
      );
      expect(stopped || ids.length === request.settings.maxNew).toBe(true);
      const { ids: prompt } = request.prompts[p]!;
      const rows = logprobsAfter([...prompt, ...ids]).slice(prompt.length - 1);
      expect(logprobs).toHaveLength(ids.length);
      for (const [i, x] of logprobs.entries()) expect(x).toBeCloseTo(rows[i]![ids[i]!]!, 4);
    }
  expect(server.seen).toHaveLength(4);
});

test('what another kind of server than was said answers ends the node, and the request is given back', async () => {
  const { error, released, sent } = await lendOnce('vllm');
  expect(error).toMatchObject({
    kind: 'wrong-input',
    code: 'node.server',
    next: expect.stringContaining('--dialect'),
  });
  expect(released).toEqual([id('lease')]);
  expect(sent).toEqual([]);
});
