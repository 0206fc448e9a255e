/** Nodes in front of servers that load each leased version's adapter: which weights answered, what happens on faults, and what is left behind. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { follow } from '../../cli/node/adapter-servers.ts';
import { scoreAgain } from '../../core/audit/score-again.ts';
import type { RollmeshError } from '../../core/errors.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { deriveId, Random, sha256Hex } from '../../core/random.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { CLOSE, type SamplingRequest } from '../../core/schema/work.ts';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import { createRemotePolicy, type DialectName } from '../../infer/remote/policy.ts';
import { askingServer, withoutWeights } from '../../local/node/ask-server.ts';
import { type Adapter, adapterNames, folded, ranksOf, writeAdapter } from '../../model/adapter.ts';
import { base, CONFIG_JSON, config, logprobsAfter, merged, StandIn, versionIn } from './adapter-stand-in.ts';

const DIALECTS = ['vllm', 'sglang', 'llama.cpp'] as const satisfies DialectName[];
const RANK = 2;
const PROMPT = [1, 5, 9];
const STOP = [7];
const NODE = 'c0ffee00c0ffee00c0ffee00c0ffee00';

/** Random A and B of every projection, large enough that any two versions differ by nats. */
function adapterOf(version: number): Adapter {
  const tensors: Adapter['tensors'] = new Map();
  for (const [weight, { shape }] of base) {
    if (!/_proj\.weight$/.test(weight)) continue;
    const { a, b } = adapterNames(weight);
    const random = new Random(`adapter/${version}/${weight}`);
    const some = (...of: number[]) => ({
      shape: of,
      data: Float32Array.from({ length: of[0]! * of[1]! }, () => 0.6 * (2 * random.float() - 1)),
    });
    tensors.set(a, some(RANK, shape[1]!));
    tensors.set(b, some(shape[0]!, RANK));
  }
  return { alpha: 6, tensors };
}

/** The weights of a version, by a second implementation of folding. */
const weightsOf = (version: number) => {
  const { alpha, tensors } = adapterOf(version);
  return merged(
    base,
    (weight) => {
      const { a, b } = adapterNames(weight);
      const [left, right] = [tensors.get(a), tensors.get(b)];
      return left && right && { a: left.data, b: right.data, rank: RANK };
    },
    alpha,
  );
};

const configBytes = new TextEncoder().encode(JSON.stringify(CONFIG_JSON));

/** A request of version `version`, and the files that a node fetches for it; of version 0 it names no adapter. */
function leased(version: number, set?: string) {
  const bytes = writeAdapter(adapterOf(version));
  const entry = (of: Uint8Array) => ({ sha256: sha256Hex(of), bytes: of.length });
  const request: SamplingRequest = {
    policy: { name: 'p-7', version, ...(set ? { set } : {}) },
    config: { file: 'config.json', ...entry(configBytes), version: 0 },
    weights: { file: 'model.safetensors', sha256: 'b'.repeat(64), bytes: 10 ** 9, version: 0 },
    ...(version ? { adapter: { file: 'main.adapter.safetensors' as const, ...entry(bytes), version } } : {}),
    vocabSize: 32,
    prompts: [{ ids: PROMPT, sampleIds: ['a', 'b'].map((id) => deriveId('follow', `${version}/${id}`)) }],
    settings: { maxNew: 5, temperature: 1, stop: STOP },
  };
  const files = Object.fromEntries(
    withoutWeights(request).map(({ file, sha256 }) => [sha256, file === 'config.json' ? configBytes : bytes]),
  );
  return { request, files };
}

/** How far stated log-probabilities are from those of some weights, nats, on average. */
function distance(completions: readonly Completion[], version: number): number {
  const weights = version ? weightsOf(version) : base;
  const far = completions.flatMap(({ ids, logprobs }) => {
    const rows = logprobsAfter(weights, [...PROMPT, ...ids]).slice(PROMPT.length - 1);
    return logprobs.map((x, i) => Math.abs(x - rows[i]![ids[i]!]!));
  });
  return far.reduce((a, b) => a + b, 0) / far.length;
}

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A server that was started for adapters, and a node in front of it. */
async function joined(dialect: DialectName, faults: StandIn['faults'] = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-follow-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  const presets = '; mine\n[the-base]\nmodel = /models/base.gguf\nload-on-startup = true\nc = 64\n';
  if (dialect === 'llama.cpp') writeFileSync(join(folder, 'models.ini'), presets);
  const server = new StandIn(dialect, folder);
  server.faults = faults;
  const at = { baseUrl: await server.start(), model: 'the-base', dialect };
  stops.push(() => server.stop());
  const troubles: RollmeshError[] = [];
  const followed = await follow(at, { folder, node: NODE, trouble: (error) => troubles.push(error) });
  stops.push(() => followed.stop());
  const compute = askingServer(at, followed);
  return {
    server,
    at,
    folder,
    troubles,
    followed,
    presets,
    sample: async (version: number, set?: string) => {
      const { request, files } = leased(version, set);
      return (await compute([request], files))[0]!.flat();
    },
  };
}

describe.each(DIALECTS)('%s', (dialect) => {
  test('20 versions in a row: each answered by its own weights, and dropped when the next has come', async () => {
    const { server, sample, followed, folder, presets } = await joined(dialect);
    for (let version = 1; version <= 20; version++) {
      const made = await sample(version);
      expect(made).toHaveLength(2);
      expect(distance(made, version)).toBeLessThan(1e-5);
      // The check would find another version's answers.
      for (const other of [version - 1, version + 1]) expect(distance(made, other)).toBeGreaterThan(0.1);
    }
    expect(server.answered.map(versionIn)).toEqual(
      Array.from({ length: 40 }, (_, i) => 1 + Math.floor(i / 2)),
    );
    await followed.stop();
    expect([...server.loaded.keys()]).toEqual([]);
    expect(readdirSync(folder)).toEqual(dialect === 'llama.cpp' ? ['models.ini'] : []);
    if (dialect === 'llama.cpp') expect(readFileSync(join(folder, 'models.ini'), 'utf8')).toBe(presets);
  });

  test('requests of several versions at once, of the base, and again of an older one', async () => {
    const { server, sample } = await joined(dialect, { slowMs: 20 });
    const asked = [3, 0, 4, 3, 5, 4];
    const made = await Promise.all(asked.map((version) => sample(version)));
    for (const [i, version] of asked.entries()) expect(distance(made[i]!, version)).toBeLessThan(1e-5);
    expect(distance(await sample(3), 3)).toBeLessThan(1e-5);
    expect(distance(await sample(6), 6)).toBeLessThan(1e-5);
    // Another set goes on beside it.
    expect(distance(await sample(2, 'judge'), 2)).toBeLessThan(1e-5);
    await expect.poll(() => [...server.loaded.keys()].map(versionIn)).toEqual([6, 2]);
  });

  test('an adapter stays while a request of it is under way', async () => {
    const { server, sample } = await joined(dialect);
    server.faults = { late: { version: 1, ms: 100 } };
    const slow = sample(1);
    await expect.poll(() => server.loaded.size).toBe(1);
    await sample(2);
    expect([...server.loaded.keys()].map(versionIn)).toEqual([1, 2]);
    expect(distance(await slow, 1)).toBeLessThan(1e-5);
    await expect.poll(() => [...server.loaded.keys()].map(versionIn)).toEqual([2]);
  });

  test('what an earlier process left is dropped, and what is somebody else’s is not', async () => {
    const { server, at, folder, sample } = await joined(dialect);
    await sample(1);
    server.loaded.set('theirs-1-000000000000', { path: '/theirs', weights: base });
    if (dialect === 'llama.cpp') {
      const path = join(folder, 'models.ini');
      writeFileSync(path, `${readFileSync(path, 'utf8')}[theirs-1-000000000000]\nmodel = /theirs`);
    }
    const again = await follow(at, { folder, node: NODE, trouble: () => {} });
    expect([...server.loaded.keys()]).toEqual(['theirs-1-000000000000']);
    await again.stop();
    // Files, too, that no server knows any more.
    const own = dialect === 'llama.cpp' ? ['models.ini'] : [];
    expect(readdirSync(folder)).toEqual(own);
    for (const name of [`rollmesh-${NODE.slice(0, 12)}-p-1-000000000000`, 'theirs'])
      writeFileSync(join(folder, name), '');
    await (await follow(at, { folder, node: NODE, trouble: () => {} })).stop();
    expect(readdirSync(folder)).toEqual([...own, 'theirs']);
  });

  test('a server that has lost an adapter gives the requests back, and has it again for the next ones', async () => {
    const { server, sample } = await joined(dialect);
    await sample(1);
    server.restart();
    await expect(sample(1)).rejects.toMatchObject({ kind: 'retry', code: 'remote.adapter' });
    expect(distance(await sample(1), 1)).toBeLessThan(1e-5);
  });

  test('an adapter that it refuses ends the node with its reason, and leaves nothing', async () => {
    const { server, sample, folder } = await joined(dialect);
    server.faults = { refuse: { status: 400, message: 'LoRA rank 64 is greater than max_lora_rank 16.' } };
    await expect(sample(1)).rejects.toMatchObject({
      kind: 'wrong-input',
      code: 'node.adapters',
      message: expect.stringContaining(dialect === 'llama.cpp' ? 'ended with 1' : 'rank 64 is greater'),
    });
    await expect.poll(() => readdirSync(folder)).toEqual(dialect === 'llama.cpp' ? ['models.ini'] : []);
    server.faults = {};
    expect(distance(await sample(1), 1)).toBeLessThan(1e-5);
  });

  test('a server that computes with another adapter is found when its answers are scored again', async () => {
    const { server, sample } = await joined(dialect);
    const found = async (version: number) => {
      const made = await sample(version);
      const { request } = leased(version);
      const weights = new Map(folded(base, adapterOf(version)));
      const policy = await createPolicy({ runtime: await loadOrt(), ref: request.policy, config, weights });
      const samples = request.prompts[0]!.sampleIds;
      const recorded = new Map(
        samples.map((id, i) => [
          id,
          { id, policy: request.policy, prompt: PROMPT, ...made[i]! } as unknown as Sample,
        ]),
      );
      const work = { group: null, samples, settings: request.settings };
      const audit = await scoreAgain(
        (_, use) => use(policy),
        [work],
        (id) => recorded.get(id),
        'seed',
      );
      await policy.dispose();
      return audit;
    };
    const right = await found(1);
    expect(right.finding).toBeNull();
    expect(right.mismatch.most).toBeLessThan(1e-4);
    server.faults = { wrong: true };
    const wrong = await found(2);
    expect(wrong.finding?.class).toBe('log-probability');
    expect(wrong.mismatch.sum / wrong.mismatch.tokens).toBeGreaterThan(CLOSE.mean);
  });
});

describe.each([
  ['vllm', 'route', /no route for that/, /VLLM_ALLOW_RUNTIME_LORA_UPDATING/],
  ['vllm', 'lora', /LoRA is not enabled/, /--enable-lora/],
  ['sglang', 'lora', /LoRA is not enabled/, /--enable-lora/],
  ['llama.cpp', 'route', /takes adapters only when it starts/, /--models-preset .*models\.ini/],
] as const)('%s without adapters (%s)', (dialect, without, reason, next) => {
  test('says so when the node joins', async () => {
    await expect(joined(dialect, { without })).rejects.toMatchObject({
      code: 'node.adapters',
      message: expect.stringMatching(reason),
      next: expect.stringMatching(next),
    });
  });
});

test.each([
  ['vllm', { path: '/elsewhere' }, 'that of /elsewhere'],
  ['sglang', { path: '/elsewhere' }, 'that of /elsewhere'],
  ['llama.cpp', { path: '/elsewhere' }, '/elsewhere'],
  ['llama.cpp', { scale: 0.5 }, '"scale":0.5'],
] as const)('%s says that it computes with %o under that name: refused', async (dialect, told, words) => {
  const { server, sample } = await joined(dialect);
  server.faults = { told };
  await expect(sample(1)).rejects.toMatchObject({
    code: 'node.adapters',
    message: expect.stringContaining(words),
  });
  server.faults = {};
});

test('a load whose answer is lost is begun again', async () => {
  const { server, sample } = await joined('vllm');
  server.faults = { loseAnswer: true };
  await expect(sample(1)).rejects.toMatchObject({ kind: 'retry', code: 'remote.unreachable' });
  expect(distance(await sample(1), 1)).toBeLessThan(1e-5);
});

test('a server that says that another model answered is refused', async () => {
  const { server, sample } = await joined('vllm');
  server.faults = { otherName: 'the-base' };
  await expect(sample(1)).rejects.toMatchObject({
    code: 'node.server',
    message: expect.stringContaining('answered as "the-base"'),
  });
});

test('an adapter that is not dropped is told, and the node goes on', async () => {
  const { server, sample, troubles } = await joined('sglang', { keeps: true });
  await sample(1);
  expect(distance(await sample(2), 2)).toBeLessThan(1e-5);
  await expect.poll(() => troubles.map(({ code }) => code)).toEqual(['remote.status']);
  server.faults = {};
});

test('a folder that cannot be written is told when the node joins', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-follow-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'file'), '');
  const at = { baseUrl: 'http://127.0.0.1:1/v1', model: 'the-base', dialect: 'vllm' as const };
  await expect(
    follow(at, { folder: join(folder, 'file'), node: NODE, trouble: () => {} }),
  ).rejects.toMatchObject({
    code: 'node.adapters',
    message: expect.stringMatching(/file of --adapters cannot be written: E[A-Z]+/),
  });
});

test('two nodes in front of one router keep each other’s models', async () => {
  const { at, folder, sample } = await joined('llama.cpp');
  const other = await follow(at, { folder, node: 'd'.repeat(32), trouble: () => {} });
  const compute = askingServer(at, other);
  const answered = async (ask: (version: number) => Promise<unknown>) => {
    for (let version = 1; version < 9; version++) await ask(version);
  };
  await Promise.all([
    answered(sample),
    answered((version) => {
      const { request, files } = leased(version);
      return compute([request], files);
    }),
  ]);
  await other.stop();
});

test('a router’s presets without the base model are refused with what they need', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-follow-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'models.ini'), '[other]\nmodel = /x\n');
  const server = new StandIn('llama.cpp', folder);
  const at = { baseUrl: await server.start(), model: 'the-base', dialect: 'llama.cpp' as const };
  stops.push(() => server.stop());
  await expect(follow(at, { folder, node: NODE, trouble: () => {} })).rejects.toMatchObject({
    code: 'node.adapters',
    message: expect.stringContaining('has no section [the-base]'),
  });
});

test('SGLang’s scores, and what it cannot be asked', async () => {
  const { at } = await joined('sglang');
  const remote = createRemotePolicy({ ...at, ref: { name: 'p', version: 0 }, vocabSize: 32, context: 64 });
  const ids = [3, 1, 4, 1, 5];
  const [scores] = await remote.score([ids]);
  const rows = logprobsAfter(base, ids);
  for (let at = 1; at < ids.length; at++) {
    const row = rows[at - 1]!;
    expect(scores!.logprobs[at - 1]).toBeCloseTo(row[ids[at]!]!, 6);
    expect(scores!.entropy[at - 1]).toBeCloseTo(-row.reduce((sum, x) => sum + Math.exp(x) * x, 0), 6);
  }
  const short = createRemotePolicy({ ...at, ref: { name: 'p', version: 0 }, vocabSize: 33, context: 64 });
  await expect(short.score([ids])).rejects.toMatchObject({ code: 'remote.entropy' });
  const truncated = createRemotePolicy({
    ...{ ...at, ref: { name: 'p', version: 0 }, vocabSize: 32, context: 64 },
    processedLogprobs: true,
  });
  const prompts = [{ ids, sampleIds: ['a'] }];
  await expect(
    truncated.generate(prompts, { maxNew: 2, temperature: 1, topP: 0.9, stop: [] }),
  ).rejects.toMatchObject({ code: 'remote.sampling' });
});

test('every projection of the tiny model is adapted, so that each name of the files is read', () => {
  expect([...ranksOf(adapterOf(1))]).toHaveLength(7);
});
