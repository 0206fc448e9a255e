import { describe, expect, test } from 'vitest';
import { SMALLER_WEIGHTS } from '../../core/policy/policy.ts';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import { dequantize, quantize } from '../../model/onnx/quantize.ts';
import { packWeights, type WeightType } from '../../model/onnx/weights.ts';
import type { Tensors } from '../../model/safetensors.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';

const config = smallConfig({ num_hidden_layers: 2, num_key_value_heads: 2, intermediate_size: 200 });
const tensors = randomTensors(config);
const bits = { int8: 8, int4: 4 } as const;

test.each([8, 4] as const)(
  '%d bits: no value is more than half a step off, but for the clipped end',
  (width) => {
    const data = tensors.get('model.layers.0.mlp.down_proj.weight')!.data;
    const blocks = quantize(data, 128, 200, width);
    const back = dequantize(blocks, 128, 200, width);
    data.forEach((x, i) => {
      const [row, column] = [Math.floor(i / 200), i % 200];
      const scale = Math.abs(blocks.scales[row * 7 + Math.floor(column / 32)]!);
      // The end away from the largest value has one step less.
      expect(Math.abs(back[i]! - x)).toBeLessThanOrEqual(
        scale * (Math.abs(x) > scale * (2 ** (width - 1) - 1) ? 1 : 0.5001),
      );
    });
  },
);

const open = async (weights: Tensors, weightType: WeightType) =>
  createPolicy({ runtime: await loadOrt(), ref: { name: 'q', version: 0 }, config, weights, weightType });

describe.each(['int8', 'int4'] as const)('%s', (weightType) => {
  const sequences = [Array.from({ length: 60 }, (_, i) => (i * i * 7 + 3) % 64)];

  test('computes what float32 does with the rounded weights', async () => {
    const rounded: Tensors = new Map(
      [...tensors].map(([name, { shape, data }]) => {
        if (!/_proj\.weight$|lm_head/.test(name)) return [name, { shape, data }];
        const [rows, columns] = shape as [number, number];
        const blocks = quantize(data, rows, columns, bits[weightType]);
        return [name, { shape, data: dequantize(blocks, rows, columns, bits[weightType]) }];
      }),
    );
    const [quantized, plain] = [await open(tensors, weightType), await open(rounded, 'float32')];
    const [[a], [b]] = [await quantized.score(sequences), await plain.score(sequences)];
    a!.logprobs.forEach((x, i) => {
      expect(Math.abs(x - b!.logprobs[i]!)).toBeLessThan(1e-4);
    });
    await plain.dispose();
    await quantized.dispose();
  });
});

test.each(SMALLER_WEIGHTS)('%s: a sample has the same bits alone and among others', async (weightType) => {
  const policy = await open(tensors, weightType);
  const settings = { maxNew: 10, temperature: 1, stop: [] };
  const one = { ids: [5, 9, 1, 7, 3], sampleIds: ['a'] };
  const [alone] = await policy.generate([one], settings);
  const among = await policy.generate(
    [
      { ids: [1, 2], sampleIds: ['b', 'c'] },
      { ...one, sampleIds: ['d', 'a'] },
    ],
    settings,
  );
  expect(among[1]![1]).toEqual(alone![0]);
  await policy.dispose();
});

test('a file of blocks is as small as it should be', () => {
  const matrices = [...tensors].filter(([name]) => /_proj\.weight$|lm_head/.test(name));
  const numbers = matrices.reduce(
    (sum, [, { shape }]) => sum + shape[0]! * Math.ceil(shape[1]! / 32) * 32,
    0,
  );
  const rest =
    [...tensors].reduce((sum, [, { data }]) => sum + data.length, 0) -
    matrices.reduce((sum, [, { data }]) => sum + data.length, 0);
  expect(packWeights(config, tensors, 'int8').length).toBe(numbers + numbers / 8 + 4 * rest);
  expect(packWeights(config, tensors, 'int4').length).toBe(numbers / 2 + numbers / 8 + 4 * rest);
});
