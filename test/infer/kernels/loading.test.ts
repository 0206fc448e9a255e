/** Weights that come in pieces and in another order are the same policy; what does not belong to the model is refused. */
import { describe, expect, test } from 'vitest';
import { REFS } from '../../../infer/kernels/forms.ts';
import { createKernelPolicy, loadKernelPolicy } from '../../../infer/kernels/kernel-policy.ts';
import { loadBuilds } from '../../../infer/kernels/node-builds.ts';
import { randomTensors, smallConfig } from '../../model/checkpoints.ts';

const config = smallConfig({ num_hidden_layers: 2, num_key_value_heads: 2, vocab_size: 70 });
const tensors = randomTensors(config);
const sequences = [Array.from({ length: 20 }, (_, i) => (i * i * 3 + 1) % 70)];

describe.each(['plain', 'int8'] as const)('%s', (form) => {
  const ref = { name: 'p', version: 0, ...REFS[form] };
  const loading = () => loadKernelPolicy(loadBuilds(), ref, config);

  test.each([8, 24])('in pieces of %d rows, the last tensor first', async (rows) => {
    const policy = loading();
    for (const [name, { shape, data }] of [...tensors].toReversed()) {
      const width = shape[1] ?? 0;
      const step = width ? rows : shape[0]!;
      for (let row = 0; row < shape[0]!; row += step) {
        const piece = width ? data.slice(row * width, (row + step) * width) : data;
        policy.write({ name, shape, row, data: piece });
      }
    }
    const whole = createKernelPolicy(loadBuilds(), ref, config, tensors);
    expect(await policy.finish().score(sequences)).toEqual(await whole.score(sequences));
  });

  test('tensors that are not the model are refused as they come', () => {
    const [name, { shape, data }] = [...tensors].find(([key]) => key.endsWith('q_proj.weight'))!;
    const write = (change: object) => () => loading().write({ name, shape, row: 0, data, ...change });
    expect(write({ name: 'model.other' })).toThrow(
      expect.objectContaining({ code: 'checkpoint.unexpected' }),
    );
    expect(write({ shape: [shape[1]!, shape[0]! + 1] })).toThrow(
      expect.objectContaining({ code: 'checkpoint.shape' }),
    );
    expect(write({ data: data.map((x, i) => (i === 9 ? Number.NaN : x)) })).toThrow(/holds NaN at 9/);
    const twice = loading();
    twice.write({ name, shape, row: 0, data });
    expect(() => twice.write({ name, shape, row: 0, data })).toThrow();
    expect(() => twice.finish()).toThrow(expect.objectContaining({ code: 'checkpoint.missing' }));
  });
});

test('logits of a large vocabulary count among what a host has room for, and change no completion', async () => {
  // A row of logits takes 0.6 MiB, as with Qwen's vocabulary: 64 rows, as many as are generated together elsewhere, would take 38.
  const wide = smallConfig({
    num_hidden_layers: 1,
    vocab_size: 151_936,
    hidden_size: 16,
    num_attention_heads: 2,
    num_key_value_heads: 2,
  });
  const wideTensors = randomTensors(wide);
  const host = 32 << 20;
  const ref = { name: 'wide', version: 0, ...REFS.int8 };
  const open = (bytes: number) => createKernelPolicy(loadBuilds(), ref, wide, wideTensors, bytes);
  const prompts = [{ ids: [1, 2, 3], sampleIds: Array.from({ length: 64 }, (_, i) => `w/${i}`) }];
  const settings = { maxNew: 2, temperature: 1, stop: [] };
  const [small, large] = [open(host), open(8 * host)];
  const made = await small.generate(prompts, settings);
  expect(small.heapBytes).toBeLessThan(host);
  expect(made).toEqual(await large.generate(prompts, settings));
  expect(large.heapBytes).toBeGreaterThan(host);
});
