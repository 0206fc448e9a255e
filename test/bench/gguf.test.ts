/** Bytes of a GGUF file worked by hand from the format's description, and a checkpoint's names and order of rows in it. */
import { expect, test } from 'vitest';
import { parseConfig } from '../../model/config.ts';
import type { GgufValue } from '../../model/gguf/format.ts';
import { ggufName, sourceRow } from '../../model/gguf/model.ts';
import { randomCheckpoint } from '../../model/init.ts';
import { writeGguf } from './rollout/gguf.ts';
import { ggufCheckpoint, idsOf, textOf } from './rollout/gguf-checkpoint.ts';

const bytes = (hex: string): number[] => hex.match(/[0-9a-f]{2}/g)!.map((pair) => Number.parseInt(pair, 16));
const written = (metadata: [string, GgufValue][]): number[] => [...writeGguf(new Map(metadata), new Map())];

test('header, metadata, tensor infos and aligned data', () => {
  const file = writeGguf(
    new Map([['a.b', { u32: 7 }]]),
    new Map([
      ['t', { shape: [2, 3], data: Float32Array.of(1, 0.5, -2, 1, 0.5, -2) }],
      ['u', { shape: [1], data: Float32Array.of(1) }],
    ]),
  );
  const expected = [
    '47475546 03000000', // GGUF, version 3
    '0200000000000000 0100000000000000', // two tensors, one entry
    '0300000000000000 612e62 04000000 07000000', // a.b, uint32, 7
    '0100000000000000 74 02000000 0300000000000000 0200000000000000', // t, two dimensions, columns first
    '00000000 0000000000000000', // float32, at 0
    '0100000000000000 75 01000000 0100000000000000', // u, one dimension
    '00000000 2000000000000000', // float32, at 32: the 24 bytes before, rounded up
    '0000000000000000000000', // 117 bytes so far, 128 is the next multiple of 32
    '0000803f 0000003f 000000c0 0000803f 0000003f 000000c0',
    '0000000000000000',
    '0000803f',
    '00000000000000000000000000000000000000000000000000000000',
  ];
  expect([...file]).toEqual(bytes(expected.join('')));
});

test('matrices in blocks of 8 bits, vectors in float32', () => {
  // The largest value, 127/64, becomes 127, so that the step is 1/64: 2400 as a half.
  const block = [127 / 64, -1, 0.5, 1 / 64, -1 / 64, ...new Array(27).fill(0)];
  const half = block.map((x) => x / 2);
  const file = writeGguf(
    new Map(),
    new Map([
      ['m', { shape: [2, 32], data: Float32Array.from([...block, ...half]) }],
      ['v', { shape: [1], data: Float32Array.of(1) }],
    ]),
    'Q8_0',
  );
  const numbers = `7fc02001ff${'00'.repeat(27)}`;
  const expected = [
    '47475546 03000000 0200000000000000 0000000000000000',
    '0100000000000000 6d 02000000 2000000000000000 0200000000000000 08000000 0000000000000000', // m, type 8, at 0
    '0100000000000000 76 01000000 0100000000000000 00000000 6000000000000000', // v, float32, at 96: 68, rounded up
    '00'.repeat(30), // 98 bytes so far
    `0024${numbers} 0020${numbers}`, // the second block: half the step, 1/128, and the same numbers
    '00'.repeat(28),
    '0000803f',
    '00'.repeat(28),
  ];
  expect([...file]).toEqual(bytes(expected.join('')));
});

const head = '47475546 03000000 0000000000000000 0100000000000000 0100000000000000 6b';

test.each<[string, GgufValue, string]>([
  ['float32', { f32: 0.5 }, '06000000 0000003f'],
  ['string', { string: 'é' }, '08000000 0200000000000000 c3a9'],
  ['int32s', { i32s: [1, -1] }, '09000000 05000000 0200000000000000 01000000 ffffffff'],
  [
    'strings',
    { strings: ['é', 'b'] },
    '09000000 08000000 0200000000000000 0200000000000000 c3a9 0100000000000000 62',
  ],
])('a metadata value of type %s', (_, value, hex) => {
  const expected = bytes(head + hex);
  const padding = new Array((32 - (expected.length % 32)) % 32).fill(0);
  expect(written([['k', value]])).toEqual([...expected, ...padding]);
});

test('rows of each head go from halves to neighbours, where llama.cpp turns neighbours', () => {
  const rows = (json: Record<string, unknown>, name: string) =>
    [0, 1, 2, 3, 4, 5, 6, 7].map((row) =>
      sourceRow(parseConfig({ ...llama, head_dim: 4, ...json }), name, row),
    );
  const query = 'model.layers.0.self_attn.q_proj.weight';
  expect(rows({}, query)).toEqual([0, 2, 1, 3, 4, 6, 5, 7]);
  const same = [0, 1, 2, 3, 4, 5, 6, 7];
  expect(rows({ model_type: 'qwen3' }, query)).toEqual(same);
  expect(rows({}, 'model.layers.0.self_attn.v_proj.weight')).toEqual(same);
});

test('names', () => {
  const of = (model_type: string, name: string) => ggufName(parseConfig({ ...llama, model_type }), name);
  expect(of('llama', 'model.embed_tokens.weight')).toBe('token_embd.weight');
  expect(of('llama', 'lm_head.weight')).toBe('output.weight');
  expect(of('qwen2', 'model.layers.0.self_attn.q_proj.bias')).toBe('blk.0.attn_q.bias');
  expect(of('llama', 'model.layers.0.mlp.down_proj.weight')).toBe('blk.0.ffn_down.weight');
  expect(of('llama', 'model.layers.0.post_attention_layernorm.weight')).toBe('blk.0.ffn_norm.weight');
  expect(of('olmo2', 'model.layers.0.post_attention_layernorm.weight')).toBe(
    'blk.0.post_attention_norm.weight',
  );
  expect(of('gemma3_text', 'model.layers.0.pre_feedforward_layernorm.weight')).toBe('blk.0.ffn_norm.weight');
  expect(of('gemma3_text', 'model.layers.0.post_feedforward_layernorm.weight')).toBe(
    'blk.0.post_ffw_norm.weight',
  );
  expect(of('qwen3', 'model.layers.0.self_attn.q_norm.weight')).toBe('blk.0.attn_q_norm.weight');
  expect(() => of('llama', 'model.layers.0.nothing.weight')).toThrow('no name');
});

test('ids are characters from U+0100 on', () => {
  expect(textOf([0, 5])).toBe('Āą');
  expect(idsOf('Āą')).toEqual([0, 5]);
});

const llama = {
  model_type: 'llama',
  vocab_size: 3,
  hidden_size: 4,
  intermediate_size: 2,
  num_hidden_layers: 1,
  num_attention_heads: 1,
  max_position_embeddings: 8,
};

/** Of the whole file, the projection's numbers as they must follow each other. */
function holds(json: Record<string, unknown>, rows: readonly number[]): boolean {
  const config = parseConfig(json);
  const tensors = randomCheckpoint(config, 'gguf');
  const data = Float32Array.from({ length: 16 }, (_, i) => i + 1);
  tensors.set('model.layers.0.self_attn.q_proj.weight', { shape: [4, 4], data });
  const wanted = Float32Array.from(rows.flatMap((row) => [...data.subarray(4 * row, 4 * row + 4)]));
  return Buffer.from(ggufCheckpoint(config, tensors)).includes(Buffer.from(wanted.buffer));
}

test("Llama's q and k are reordered, Qwen2's are not", () => {
  expect(holds(llama, [0, 2, 1, 3])).toBe(true);
  expect(holds({ ...llama, model_type: 'qwen2' }, [0, 1, 2, 3])).toBe(true);
});

test('tied embeddings have no output projection; what cannot be converted is refused', () => {
  const file = (json: Record<string, unknown>) => {
    const config = parseConfig({ ...llama, ...json });
    return Buffer.from(ggufCheckpoint(config, randomCheckpoint(config, 'gguf')));
  };
  const name = Buffer.from([13, 0, 0, 0, 0, 0, 0, 0, ...Buffer.from('output.weight')]);
  expect(file({}).includes(name)).toBe(true);
  expect(file({ tie_word_embeddings: true }).includes(name)).toBe(false);
  expect(() => file({ rope_scaling: { rope_type: 'linear', factor: 2 } })).toThrow('without rope scaling');
});
