import { expect, test } from 'vitest';
import { ropeFrequencies, ropeTables } from '../../model/rope.ts';
import { smallConfig } from './checkpoints.ts';

/** Frequencies of narrow heads with base 10 000, under a scaling in Hugging Face's names. */
const frequencies = (headDim: number, scaling: Record<string, unknown> | null) =>
  ropeFrequencies(
    smallConfig({ head_dim: headDim, rope_theta: 10_000, rope_scaling: scaling }).layers[0]!.rope!,
    headDim,
  );

const close = (values: Float64Array, expected: readonly number[]) => {
  expect(values).toHaveLength(expected.length);
  for (const [i, x] of expected.entries()) expect(values[i]! / x).toBeCloseTo(1, 4);
};

// Worked by hand from the papers' formulas.
test('unscaled and linear', () => {
  close(frequencies(8, null).frequencies, [1, 0.1, 0.01, 0.001]);
  close(frequencies(8, { rope_type: 'linear', factor: 4 }).frequencies, [0.25, 0.025, 0.0025, 0.00025]);
});

test('dynamic: up to max_position_embeddings as without it', () => {
  // The base grows by (factor · length / most - (factor - 1))^(d / (d - 2)) from the length `most` on, which is 1 there.
  close(frequencies(8, { rope_type: 'dynamic', factor: 4 }).frequencies, [1, 0.1, 0.01, 0.001]);
});

test('llama3: fast turns stay, slow ones are stretched, those between are blended', () => {
  // In 1000 positions the frequencies 1 and 0.01 make 159.155 and 1.59155 turns: the second keeps (1.59155 - 1) / 3 of itself.
  const { frequencies: made, attentionFactor } = frequencies(4, {
    rope_type: 'llama3',
    factor: 8,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 1000,
  });
  close(made, [1, 0.19718 * 0.01 + 0.80282 * 0.00125]);
  expect(attentionFactor).toBe(1);
});

test('yarn: a ramp over dimensions, and warmer attention', () => {
  // 8 ln(1000 / (32 · 2π)) / (2 ln 10000) = 0.697 and 8 ln(1000 / 2π) / (2 ln 10000) = 2.202: the ramp goes from 0 to 3.
  const { frequencies: made, attentionFactor } = frequencies(8, {
    type: 'yarn',
    factor: 4,
    original_max_position_embeddings: 1000,
  });
  close(made, [1, 0.075, 0.005, 0.00025]);
  expect(attentionFactor).toBeCloseTo(1.138629, 6);
});

test('tables are cosines and sines of position times frequency', () => {
  const { cos, sin } = ropeTables({ theta: 10_000, scaling: null }, 4, 3);
  expect([...cos]).toEqual([1, 1, Math.cos(1), Math.cos(0.01), Math.cos(2), Math.cos(0.02)].map(Math.fround));
  expect([...sin]).toEqual([0, 0, Math.sin(1), Math.sin(0.01), Math.sin(2), Math.sin(0.02)].map(Math.fround));
});
