/**
 * Do close engines draw from the policy's own distribution? The trusted engine tells the probability of every token after four prefixes of
 * a solution; 512 draws of one token after each are compared with them by Pearson's chi-square. Seeds are fixed, so the outcome is, too.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Policy } from '../../core/policy/policy.ts';
import { CLOSE_ENGINES } from '../../core/schema/work.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { nativeEngines } from '../../infer/node-ort-native.ts';
import { openVersion } from '../../infer/open-version.ts';
import { createRemotePolicy } from '../../infer/remote/policy.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { NATIVE_NEEDED, nativeInstalled, VULKAN_DRIVER } from './native.ts';

const DRAWS = 512;
const PREFIXES = [
  [1, 5, 6, 7],
  [1, 9, 4, 8, 3],
  [2, 5, 5, 7, 6, 4],
  [1, 7],
];
const ref = { name: 'arithmetic-base', version: 0 };

let files: Awaited<ReturnType<typeof readPolicyFolder>>;
let trusted: Policy;
let served: Policy;
let server: Server;
/** [prefixes][vocabulary] */
let probabilities: number[][];
let vocabSize: number;
/** The temperature at which the server samples, whatever it is asked for; it states log-probabilities at temperature 1. */
let heat = 1;

beforeAll(async () => {
  files = await readPolicyFolder('models/arithmetic-base');
  vocabSize = (JSON.parse(new TextDecoder().decode(files['config.json'])) as { vocab_size: number })
    .vocab_size;
  trusted = await openVersion(nodeEngines, ref, files);
  served = await openVersion(nodeEngines, { ...ref, engine: 'kernels-plain' }, files);
  probabilities = await Promise.all(
    PREFIXES.map(async (prefix) => {
      const scores = await trusted.score(Array.from({ length: vocabSize }, (_, id) => [...prefix, id]));
      return scores.map(({ logprobs }) => Math.exp(logprobs.at(-1)!));
    }),
  );
  let turn: Promise<unknown> = Promise.resolve();
  server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const { prompt, seed } = JSON.parse(Buffer.concat(chunks).toString()) as {
      prompt: number[];
      seed: number;
    };
    const drawn = turn.then(async () => {
      const settings = { maxNew: 1, temperature: heat, stop: [] };
      const made = await served.generate([{ ids: prompt, sampleIds: [`server/${seed}`] }], settings);
      return made[0]![0]!.ids[0]!;
    });
    turn = drawn;
    const id = await drawn;
    const stated = Math.log(probabilities[PREFIXES.findIndex((prefix) => `${prefix}` === `${prompt}`)]![id]!);
    const logprobs = { tokens: [`token_id:${id}`], token_logprobs: [stated] };
    response.end(JSON.stringify({ choices: [{ finish_reason: 'length', logprobs }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close();
  await trusted.dispose();
  await served.dispose();
});

/** Pearson's chi-square of the policy's draws, with its degrees of freedom. Tokens that are expected less than five times count as one. */
async function chiSquare(policy: Policy, temperature = 1): Promise<{ square: number; freedom: number }> {
  const prompts = PREFIXES.map((ids, p) => ({
    ids,
    sampleIds: Array.from({ length: DRAWS }, (_, i) => `draw/${p}/${i}`),
  }));
  const drawn = await policy.generate(prompts, { maxNew: 1, temperature, stop: [] });
  let [square, freedom] = [0, 0];
  for (const [p, expected] of probabilities.entries()) {
    const counts = new Array<number>(vocabSize).fill(0);
    for (const { ids } of drawn[p]!) counts[ids[0]!]!++;
    let [restExpected, restCounted, bins] = [0, 0, 0];
    const add = (wanted: number, counted: number) => {
      square += (counted - wanted) ** 2 / wanted;
      bins++;
    };
    for (const [id, probability] of expected.entries())
      if (probability * DRAWS >= 5) add(probability * DRAWS, counts[id]!);
      else [restExpected, restCounted] = [restExpected + probability * DRAWS, restCounted + counts[id]!];
    if (restExpected > 0) add(restExpected, restCounted);
    freedom += bins - 1;
  }
  return { square, freedom };
}

/** Chi-square as a deviate of the standard normal distribution (Wilson and Hilferty, 1931). */
const deviate = ({ square, freedom }: { square: number; freedom: number }): number =>
  (Math.cbrt(square / freedom) - 1 + 2 / (9 * freedom)) / Math.sqrt(2 / (9 * freedom));

/** One honest engine in three million lies further off. */
const BOUND = 5;

const remote = () =>
  createRemotePolicy({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    model: 'any',
    dialect: 'vllm',
    ref,
    vocabSize,
    context: 256,
  });

test('the prefixes leave room for chance: the test has over ten degrees of freedom', async () => {
  expect((await chiSquare(trusted)).freedom).toBeGreaterThan(10);
});

describe('a server of completions', () => {
  test('draws from the distribution of the policy', async () => {
    heat = 1;
    expect(Math.abs(deviate(await chiSquare(remote())))).toBeLessThan(BOUND);
  });

  test.each([0.8, 1.25])('that samples at temperature %d is found', async (temperature) => {
    heat = temperature;
    expect(deviate(await chiSquare(remote()))).toBeGreaterThan(BOUND);
  });
});

describe.skipIf(!nativeInstalled)(`native ONNX Runtime${NATIVE_NEEDED}`, () => {
  let native: Policy;
  beforeAll(async () => {
    native = await openVersion(nativeEngines('onnxruntime-node'), ref, files);
  });
  afterAll(() => native.dispose());

  test('draws from the distribution of the policy, and is found at another temperature', async () => {
    expect(Math.abs(deviate(await chiSquare(native)))).toBeLessThan(BOUND);
    for (const temperature of [0.8, 1.25])
      expect(deviate(await chiSquare(native, temperature))).toBeGreaterThan(BOUND);
  });

  test.each(CLOSE_ENGINES)('%s runs the graph unchanged, within a thousandth of a nat', async (engine) => {
    // A software driver needs seconds for few tokens.
    if (engine === 'webgpu') process.env.VK_ICD_FILENAMES = VULKAN_DRIVER;
    const policy = await openVersion(nativeEngines(engine), ref, files);
    const prompts = PREFIXES.map((ids, p) => ({ ids, sampleIds: [`a/${p}`, `b/${p}`] }));
    const drawn = await policy.generate(prompts, { maxNew: 6, temperature: 1, stop: [] });
    await policy.dispose();
    for (const [p, completions] of drawn.entries())
      for (const { ids, logprobs } of completions) {
        const [scores] = await trusted.score([[...PREFIXES[p]!, ...ids]]);
        for (const [t, stated] of logprobs.entries())
          expect(Math.abs(stated - scores!.logprobs[PREFIXES[p]!.length - 1 + t]!)).toBeLessThan(1e-3);
      }
  });
});
