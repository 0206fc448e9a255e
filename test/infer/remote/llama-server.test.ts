/**
 * A remote policy against a real llama-server, which LLAMA_SERVER names (a command, from Debian's llama.cpp-tools for
 * example), and a node's adapters in one that is a router; without it there is nothing to test. It serves the committed start policy, so that
 * every number can be compared.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '../../../cli/node/adapter-servers.ts';
import type { Policy } from '../../../core/policy/policy.ts';
import { Random } from '../../../core/random.ts';
import { createPolicy } from '../../../infer/onnx-policy.ts';
import { loadOrt } from '../../../infer/ort.ts';
import { createRemotePolicy } from '../../../infer/remote/policy.ts';
import { type Adapter, adapterNames, folded, writeAdapter } from '../../../model/adapter.ts';
import { parseConfig } from '../../../model/config.ts';
import { readSafetensors } from '../../../model/safetensors.ts';
import { ggufCheckpoint } from '../../bench/rollout/gguf-checkpoint.ts';

const command = process.env.LLAMA_SERVER;
const config = parseConfig(JSON.parse(await readFile('models/arithmetic-base/config.json', 'utf8')));
const tensors = readSafetensors(await readFile('models/arithmetic-base/model.safetensors'));
const { vocabSize } = config;
/** Ends an answer; the file that is served names no end, so that only the policy stops at it. */
const STOP = 12;
const PROMPT = [1, 5, 6, 7];

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  server.close();
  return typeof address === 'object' ? address!.port : 0;
}

async function untilReady(url: string): Promise<void> {
  for (let i = 0; i < 150; i++) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${command} did not come up.`);
}

describe.skipIf(!command)(`llama-server${command ? '' : ' (skipped: LLAMA_SERVER names no program)'}`, () => {
  let [folder, server]: [string, ChildProcess | undefined] = ['', undefined];
  let [far, here]: Policy[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llama-server-'));
    const file = join(folder, 'seed.gguf');
    await writeFile(file, ggufCheckpoint(config, tensors));
    const port = await freePort();
    const [program, ...args] = command!.split(' ');
    const settings = ['-m', file, '--host', '127.0.0.1', '--port', `${port}`, '-c', '1024', '-np', '4'];
    server = spawn(program!, [...args, ...settings, '-ctk', 'f32', '-ctv', 'f32', '-fa', 'off'], {
      stdio: 'ignore',
    });
    const baseUrl = `http://127.0.0.1:${port}`;
    await untilReady(`${baseUrl}/health`);
    const ref = { name: 'arithmetic-base', version: 0 };
    far = createRemotePolicy({
      ref,
      baseUrl: `${baseUrl}/v1`,
      model: 'arithmetic-base',
      dialect: 'llama.cpp',
      processedLogprobs: true,
      vocabSize,
      context: 256,
      concurrency: 4,
    });
    here = await createPolicy({ runtime: await loadOrt(), ref, config, weights: tensors });
  });
  afterAll(async () => {
    server?.kill();
    await here?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  test('completions: log-probabilities within 1e-4 of the policy here, cut at the stop token', async () => {
    const sampleIds = Array.from({ length: 16 }, (_, i) => `s${i}`);
    const settings = { maxNew: 32, temperature: 1, stop: [STOP] };
    const [samples] = await far!.generate([{ ids: PROMPT, sampleIds }], settings);
    expect(samples!.filter(({ stopped }) => stopped).length).toBeGreaterThan(4);
    for (const { ids, logprobs, stopped } of samples!) {
      expect(ids.indexOf(STOP)).toBe(stopped ? ids.length - 1 : -1);
      const [scores] = await here!.score([[...PROMPT, ...ids]]);
      const expected = scores!.logprobs.slice(PROMPT.length - 1);
      expect(Math.max(...logprobs.map((x, i) => Math.abs(x - expected[i]!)))).toBeLessThan(1e-4);
    }
  });

  test('scores: log-probabilities and entropies within 1e-4 of the policy here', async () => {
    const sequences = [
      [...PROMPT, 15, 13, 7, 11, STOP],
      [3, 1, 4],
    ];
    const [remote, local] = [await far!.score(sequences), await here!.score(sequences)];
    for (const [s, scores] of remote.entries())
      for (const key of ['logprobs', 'entropy'] as const) {
        expect(scores[key]).toHaveLength(sequences[s]!.length - 1);
        for (const [i, x] of scores[key].entries())
          expect(Math.abs(x - local[s]![key][i]!)).toBeLessThan(1e-4);
      }
  });

  test.each([1, 0.7])(
    'tokens follow the distribution whose log-probabilities are told, temperature %d',
    async (temperature) => {
      const draws = 600;
      const sampleIds = Array.from({ length: draws }, (_, i) => `draw ${i}`);
      const [samples] = await far!.generate([{ ids: PROMPT, sampleIds }], {
        maxNew: 1,
        temperature,
        stop: [],
      });
      const all = await here!.score(Array.from({ length: vocabSize }, (_, id) => [...PROMPT, id]));
      const weights = all.map(({ logprobs }) => Math.exp(logprobs.at(-1)! / temperature));
      const total = weights.reduce((sum, x) => sum + x, 0);
      const counts = new Map<number, number>();
      for (const { ids, logprobs } of samples!) {
        expect(Math.abs(logprobs[0]! - Math.log(weights[ids[0]!]! / total))).toBeLessThan(1e-4);
        counts.set(ids[0]!, (counts.get(ids[0]!) ?? 0) + 1);
      }
      // Pearson's statistic over tokens expected five times or more, the others as one class.
      let [statistic, classes, restExpected, restSeen] = [0, 0, 0, 0];
      for (const [id, weight] of weights.entries()) {
        const expected = (draws * weight) / total;
        const seen = counts.get(id) ?? 0;
        if (expected < 5) [restExpected, restSeen] = [restExpected + expected, restSeen + seen];
        else [statistic, classes] = [statistic + (seen - expected) ** 2 / expected, classes + 1];
      }
      if (restExpected >= 1)
        [statistic, classes] = [statistic + (restSeen - restExpected) ** 2 / restExpected, classes + 1];
      // Mean and standard deviation of chi-square with k degrees of freedom: k and sqrt(2 k).
      expect(classes).toBeGreaterThan(1);
      expect(statistic).toBeLessThan(classes - 1 + 4 * Math.sqrt(2 * (classes - 1)));
    },
  );
});

/** Small random A and B of every projection. */
function adapterOf(version: number): Adapter {
  const pairs: Adapter['tensors'] = new Map();
  for (const [weight, { shape }] of tensors) {
    if (!weight.endsWith('_proj.weight')) continue;
    const { a, b } = adapterNames(weight);
    const random = new Random(`${version}/${weight}`);
    const some = (rows: number, columns: number) => ({
      shape: [rows, columns],
      data: Float32Array.from({ length: rows * columns }, () => 0.2 * (2 * random.float() - 1)),
    });
    pairs.set(a, some(4, shape[1]!));
    pairs.set(b, some(shape[0]!, 4));
  }
  return { alpha: 8, tensors: pairs };
}

describe.skipIf(!command)('llama-server as a router', () => {
  test('20 versions in a row: log-probabilities within 1e-4 of each version’s own weights, and nothing left', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'llama-router-'));
    const presets = join(folder, 'models.ini');
    await writeFile(join(folder, 'base.gguf'), ggufCheckpoint(config, tensors));
    const settings = 'c = 1024\ncache-type-k = f32\ncache-type-v = f32\nflash-attn = off\n';
    await writeFile(presets, `[the-base]\nmodel = ${join(folder, 'base.gguf')}\n${settings}`);
    const port = await freePort();
    const [program, ...args] = command!.split(' ');
    const options = ['--models-preset', presets, '--host', '127.0.0.1', '--port', `${port}`, '--offline'];
    const server = spawn(program!, [...args, ...options], { stdio: 'ignore' });
    try {
      await untilReady(`http://127.0.0.1:${port}/health`);
      const at = { baseUrl: `http://127.0.0.1:${port}/v1`, model: 'the-base', dialect: 'llama.cpp' as const };
      const trouble = (error: Error) => {
        throw error;
      };
      const followed = await follow(at, { folder, node: '0123456789abcdef', trouble });
      for (let version = 1; version <= 20; version++) {
        const ref = { name: 'p', version };
        const adapter = adapterOf(version);
        const bytes = writeAdapter(adapter);
        const sampleIds = ['a', 'b', 'c'].map((id) => `${version}/${id}`);
        const [samples] = await followed.with(
          ref,
          `${version}`.padStart(64, '0'),
          { config, bytes },
          (name) =>
            createRemotePolicy({ ...at, ref, adapter: name, vocabSize, context: 256 }).generate(
              [{ ids: PROMPT, sampleIds }],
              { maxNew: 12, temperature: 1, stop: [STOP] },
            ),
        );
        const farFrom = async (of: Adapter | undefined) => {
          const weights = new Map(folded(tensors, of));
          const own = await createPolicy({ runtime: await loadOrt(), ref, config, weights });
          const scores = await own.score(samples!.map(({ ids }) => [...PROMPT, ...ids]));
          await own.dispose();
          return Math.max(
            ...samples!.flatMap(({ logprobs }, s) =>
              logprobs.map((x, i) => Math.abs(x - scores[s]!.logprobs[PROMPT.length - 1 + i]!)),
            ),
          );
        };
        expect(await farFrom(adapter)).toBeLessThan(1e-4);
        expect(await farFrom(undefined)).toBeGreaterThan(0.01);
      }
      await followed.stop();
      expect((await readdir(folder)).toSorted()).toEqual(['base.gguf', 'models.ini']);
    } finally {
      server.kill();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
