/** 8-bit products against their definition: float32 over the rounded weights, computed by the other engine. */
import { describe, expect, test } from 'vitest';
import type { PolicyRef } from '../../../core/policy/policy.ts';
import { BUILDS, type Builds } from '../../../infer/kernels/builds.ts';
import { createKernelPolicy, type KernelPolicy } from '../../../infer/kernels/kernel-policy.ts';
import { loadBuilds } from '../../../infer/kernels/node-builds.ts';
import { createPolicy } from '../../../infer/onnx-policy.ts';
import { loadOrt } from '../../../infer/ort.ts';
import type { Tensors } from '../../../model/safetensors.ts';
import { ORACLES, oracle, randomTensors, smallConfig } from '../../model/checkpoints.ts';

const open = (
  config: Parameters<typeof createKernelPolicy>[2],
  tensors: Tensors,
  weights: NonNullable<PolicyRef['weights']>,
  builds: Builds = loadBuilds(),
): KernelPolicy =>
  createKernelPolicy(builds, { name: 'q', version: 0, engine: 'kernels', weights }, config, tensors);

/** Matrices with each row rounded to 255 steps of its largest value. */
const rounded = (tensors: Tensors): Tensors =>
  new Map(
    [...tensors].map(([name, { shape, data }]) => {
      const [rows, columns] = shape;
      if (columns === undefined) return [name, { shape, data }];
      const out = new Float32Array(data.length);
      for (let r = 0; r < rows!; r++) {
        const row = data.subarray(r * columns, (r + 1) * columns);
        const step = row.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127;
        row.forEach((x, i) => {
          out[r * columns + i] = Math.round(x / step) * step;
        });
      }
      return [name, { shape, data: out }];
    }),
  );

describe.each(ORACLES)('%s', (name) => {
  const { config, tensors, expected } = oracle(name);

  test('int8 computes what float32 does with the rounded weights; w8a8 rounds activations, too', async () => {
    const plain = await createPolicy({
      runtime: await loadOrt(),
      ref: { name: 'q', version: 0 },
      config,
      weights: rounded(tensors),
    });
    const wanted = (await plain.score(expected.input_ids)).flatMap(({ logprobs }) => logprobs);
    await plain.dispose();
    const meanError = async (weights: 'int8' | 'w8a8'): Promise<number> => {
      const scores = await open(config, tensors, weights).score(expected.input_ids);
      const errors = scores.flatMap(({ logprobs }) => logprobs).map((x, i) => Math.abs(x - wanted[i]!));
      return errors.reduce((sum, error) => sum + error, 0) / errors.length;
    };
    const [weightsAlone, both] = [await meanError('int8'), await meanError('w8a8')];
    // 13 bits of activations against 7: 64 times the steps.
    expect(weightsAlone).toBeLessThan(4e-3);
    expect(both).toBeLessThan(64 * 4e-3);
    expect(both).toBeGreaterThan(10 * weightsAlone);
  });
});

describe.each(['int8', 'w8a8'] as const)('%s', (weights) => {
  const config = smallConfig({ num_hidden_layers: 2, num_key_value_heads: 2, vocab_size: 70 });
  const tensors = randomTensors(config);
  const settings = { maxNew: 10, temperature: 1, stop: [] };
  const one = { ids: [5, 9, 1, 7, 3], sampleIds: ['a'] };

  test('a sample has the same bits alone and among others, and its score is its log-probability', async () => {
    const policy = open(config, tensors, weights);
    const [alone] = await policy.generate([one], settings);
    const among = await policy.generate(
      [
        { ids: [1, 2], sampleIds: ['b', 'c', 'd', 'e', 'f'] },
        { ...one, sampleIds: ['d', 'a'] },
      ],
      settings,
    );
    expect(among[1]![1]).toEqual(alone![0]);
    const [score] = await policy.score([[...one.ids, ...alone![0]!.ids]]);
    expect(score!.logprobs.slice(one.ids.length - 1)).toEqual(alone![0]!.logprobs);
  });

  test('every build that computes it gives the same bits', async () => {
    const all = loadBuilds();
    const prompts = [{ ...one, sampleIds: ['a', 'b', 'c'] }];
    const made = [];
    for (const build of BUILDS.filter((name) => name !== 'fused' && all[name]))
      made.push(await open(config, tensors, weights, { [build]: all[build] }).generate(prompts, settings));
    for (const completions of made) expect(completions).toEqual(made[0]);
  });
});

test('what the engine cannot hold or compute is refused by name', () => {
  const config = smallConfig({ num_hidden_layers: 1, intermediate_size: 200 });
  const tensors = randomTensors(config);
  expect(() => open(config, tensors, 'int4')).toThrow(expect.objectContaining({ code: 'kernels.weights' }));
  expect(() => open(config, tensors, 'int8')).toThrow(
    /intermediate_size 200.*multiple of 8 and the others of 16/,
  );
  const incomplete = new Map([...tensors].slice(1));
  const ref = { name: 'q', version: 0, engine: 'kernels-plain' } as const;
  expect(() => createKernelPolicy(loadBuilds(), ref, config, incomplete)).toThrow(/embed_tokens/);
});
