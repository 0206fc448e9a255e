/** A widened checkpoint computes what the narrow one does, by the plain forward pass in float64. */
import { expect, test } from 'vitest';
import { parseConfig } from '../../model/config.ts';
import { randomCheckpoint } from '../../model/init.ts';
import { widened } from '../../model/widen.ts';
import { referenceLogits } from './reference.ts';
import { anyImage, sequenceOf } from './seeing.ts';

const shape = (model: string, heads: number, changes: Record<string, unknown> = {}) =>
  parseConfig({
    model_type: model,
    vocab_size: 23,
    hidden_size: heads * 8,
    intermediate_size: heads * 20,
    num_hidden_layers: 2,
    num_attention_heads: heads,
    num_key_value_heads: heads / 2,
    head_dim: 8,
    // So small that it does not matter that a norm's constant weighs more where the stream has new zeros.
    rms_norm_eps: 1e-12,
    max_position_embeddings: 32 * heads,
    ...changes,
  });
const IDS = [3, 1, 4, 1, 5, 9, 2, 6];
const SEEN = sequenceOf(3, anyImage(24, 24, 'widen'), 1, 4).reads;

test.each([
  ['qwen2', {}],
  ['qwen3', {}],
  ['llama', { tie_word_embeddings: false }],
  ['qwen2', { vision: { patch_size: 8, rows: 4, columns: 4, token_id: 2 } }],
])('a %s of five times the heads gives the same logits, and its new weights are used', (model, changes) => {
  const [narrow, wide] = [shape(model, 2, changes), shape(model, 10, changes)];
  const tensors = randomCheckpoint(narrow, 'narrow');
  // Gains and biases that are not all alike.
  for (const { shape: dims, data } of tensors.values())
    if (dims.length === 1)
      for (let i = 0; i < data.length; i++) data[i] = Math.fround(0.5 + ((i * 7) % 5) / 4);
  const larger = widened(tensors, narrow, wide, 'seed');
  const reads = narrow.vision ? SEEN : IDS;
  const expected = referenceLogits(narrow, tensors, reads);
  const found = referenceLogits(wide, larger, reads);
  const off = found.flatMap((row, i) => row.map((value, j) => Math.abs(value - expected[i]![j]!)));
  expect(Math.max(...off)).toBeLessThan(1e-5);
  expect(Math.max(...expected.flat())).toBeGreaterThan(0.1);
  const queries = larger.get('model.layers.0.self_attn.q_proj.weight')!;
  expect(queries.shape).toEqual([80, 80]);
  expect(queries.data.every((value) => value !== 0)).toBe(true);
  expect(widened(tensors, narrow, wide, 'seed')).toEqual(larger);
});

test.each(['olmo2', 'gemma3_text'])('%s is refused, since other widths change its numbers', (model) => {
  const [narrow, wide] = [shape(model, 2), shape(model, 4)];
  expect(() => widened(randomCheckpoint(narrow, 'narrow'), narrow, wide, 'seed')).toThrow(
    `checkpoint of ${model} cannot be widened`,
  );
});

test('one that reads text alone is not widened to one that sees', () => {
  const vision = { patch_size: 8, rows: 4, columns: 4, token_id: 2 };
  const [blind, sees] = [shape('qwen2', 2), shape('qwen2', 4, { vision })];
  expect(() => widened(randomCheckpoint(blind, 'narrow'), blind, sees, 'seed')).toThrow(
    /another vision: null and/,
  );
});

test('to the same shape it is the checkpoint itself', () => {
  const config = shape('qwen2', 4);
  const tensors = randomCheckpoint(config, 'same');
  expect(widened(tensors, config, config, 'seed')).toEqual(tensors);
});

test.each([
  ['another headDim: 8 and 4', { head_dim: 4 }],
  ['another layers: 2 and 3', { num_hidden_layers: 3 }],
  ['another queriesPerKey: 2 and 1', { num_key_value_heads: 4 }],
  ['a smaller hiddenSize: 32 and 16', { hidden_size: 16 }],
])('%s is refused', (what, changes) => {
  const config = shape('qwen2', 4);
  const tensors = randomCheckpoint(config, 'narrow');
  expect(() => widened(tensors, config, shape('qwen2', 4, changes), 'seed')).toThrow(`widened to ${what}`);
});
