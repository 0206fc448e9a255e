/** A GGUF file as an independent reader, Hugging Face's, reads it, and numbers at its offsets. That llama.cpp generates the same tokens from such files is in the log. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gguf } from '@huggingface/gguf';
import { afterAll, expect, test } from 'vitest';
import { type GgufNumbers, ggufFile } from '../../../cli/policy/gguf-file.ts';
import { tensorsOf } from '../../../model/checkpoint-files.ts';
import { parseConfig } from '../../../model/config.ts';
import { fromBfloat16, fromHalf } from '../../../model/half.ts';
import { writeSafetensors } from '../../../model/safetensors.ts';
import { byteTokenizer, SMOLLM_TEMPLATE } from '../../core/renderer/checkpoints.ts';
import { TINY_ARCHITECTURES } from '../../model/architectures.ts';
import { randomTensors } from '../../model/checkpoints.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-gguf-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const vocabulary = { vocab_size: 264, bos_token_id: null, eos_token_id: [261, 259] };
const { no_rope_layers: _, ...plain } = TINY_ARCHITECTURES.smollm3;
const LLAMA = { ...plain, ...vocabulary, model_type: 'llama' };
const GEMMA = {
  ...{ ...TINY_ARCHITECTURES.gemma3_text, ...vocabulary },
  ...{ sliding_window_pattern: 6, query_pre_attn_scalar: 16 },
};
const SPECIAL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
const bytesTokenizer = (changes: object = {}) => ({
  ...byteTokenizer(SPECIAL),
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
  ...changes,
});
const utf8 = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

async function file(
  json: Record<string, unknown>,
  tokenizer: object | undefined,
  numbers: GgufNumbers = 'F32',
) {
  const config = parseConfig(json);
  const tensors = randomTensors(config);
  const path = join(root, 'model.safetensors');
  writeFileSync(path, writeSafetensors(tensors));
  const told = { eos_token: { content: '<|im_end|>' }, chat_template: SMOLLM_TEMPLATE };
  const files = {
    'config.json': utf8(json),
    'model.safetensors': new Uint8Array(),
    'tokenizer_config.json': utf8(told),
    ...(tokenizer ? { 'tokenizer.json': utf8(tokenizer) } : {}),
  };
  const stream = ggufFile('mine-3', config, files, await tensorsOf(path), numbers);
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream.read()) chunks.push(chunk.slice());
  const bytes = Buffer.concat(chunks);
  expect(bytes.length).toBe(stream.bytes);
  const out = join(root, 'model.gguf');
  writeFileSync(out, bytes);
  const read = await gguf(out, { allowLocalFile: true });
  /** Numbers of a tensor, by the reader's offsets. */
  const numbersOf = (name: string, count: number): number[] => {
    const { offset, dtype } = read.tensorInfos.find((info) => info.name === name)!;
    const at = Number(read.tensorDataOffset) + Number(offset);
    const size = dtype === 0 ? 4 : 2;
    const data = new Uint8Array(readFileSync(out).subarray(at, at + size * count)).buffer;
    if (dtype === 0) return [...new Float32Array(data)];
    return [...(dtype === 1 ? fromHalf : fromBfloat16)(new Uint16Array(data))];
  };
  return { tensors, ...read, numbersOf };
}

test('Llama: metadata, names, shapes and rows in the order of neighbours', async () => {
  const { tensors, metadata, tensorInfos, numbersOf } = await file(LLAMA, bytesTokenizer());
  expect(metadata).toMatchObject({
    version: 3,
    'general.architecture': 'llama',
    'general.name': 'mine-3',
    'general.file_type': 0,
    'llama.block_count': 4,
    'llama.embedding_length': 32,
    'llama.feed_forward_length': 48,
    'llama.attention.head_count': 4,
    'llama.attention.head_count_kv': 2,
    'llama.attention.key_length': 8,
    'llama.context_length': 64,
    'llama.rope.freq_base': 5e6,
    'llama.vocab_size': 264,
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.eos_token_id': 261,
    'tokenizer.ggml.add_bos_token': false,
    'tokenizer.ggml.merges': ['4 2', 'Ġ 4', 'o k'],
    'tokenizer.chat_template': SMOLLM_TEMPLATE,
  });
  expect(metadata['llama.attention.layer_norm_rms_epsilon' as never]).toBeCloseTo(1e-6, 12);
  const tokens = metadata['tokenizer.ggml.tokens' as never] as string[];
  expect([tokens.length, tokens[258], ...tokens.slice(259)]).toEqual([
    264,
    'ok',
    ...SPECIAL,
    '[PAD262]',
    '[PAD263]',
  ]);
  const kinds = metadata['tokenizer.ggml.token_type' as never] as number[];
  expect(kinds.slice(257)).toEqual([1, 1, 3, 3, 3, 5, 5]);
  const shapes = new Map(tensorInfos.map(({ name, shape }) => [name, shape.map(Number)]));
  expect(shapes.size).toBe(2 + 4 * 9);
  expect(shapes.get('token_embd.weight')).toEqual([32, 264]);
  expect(shapes.get('blk.3.ffn_down.weight')).toEqual([48, 32]);
  expect(shapes.get('blk.0.attn_k.weight')).toEqual([32, 16]);
  // Heads of eight rows: 0 4 1 5 2 6 3 7.
  const rows = tensors.get('model.layers.1.self_attn.q_proj.weight')!.data;
  const found = numbersOf('blk.1.attn_q.weight', 32 * 32);
  for (const [row, from] of [0, 4, 1, 5, 2, 6, 3, 7, 8, 12].entries())
    expect(found.slice(32 * row, 32 * (row + 1))).toEqual([...rows.subarray(32 * from, 32 * (from + 1))]);
  const values = tensors.get('model.layers.1.self_attn.v_proj.weight')!.data;
  expect(numbersOf('blk.1.attn_v.weight', 64)).toEqual([...values.subarray(0, 64)]);
});

test.each([
  ['F16', 1, 2 ** -11],
  ['BF16', 30, 2 ** -8],
] as const)('%s: matrices in two bytes, vectors in float32', async (numbers, type, step) => {
  const { tensors, metadata, tensorInfos, numbersOf } = await file(LLAMA, bytesTokenizer(), numbers);
  expect(metadata['general.file_type' as never]).toBe(numbers === 'F16' ? 1 : 32);
  for (const { shape, dtype } of tensorInfos) expect(dtype).toBe(shape.length > 1 ? type : 0);
  const wanted = tensors.get('model.layers.3.mlp.up_proj.weight')!.data;
  for (const [i, x] of numbersOf('blk.3.ffn_up.weight', 48 * 32).entries())
    expect(Math.abs(x - wanted[i]!)).toBeLessThanOrEqual(step * Math.abs(wanted[i]!) + 1e-7);
});

test('Gemma 3: whole gains, four norms, its window', async () => {
  const { tensors, metadata, tensorInfos, numbersOf } = await file(GEMMA, bytesTokenizer());
  expect(metadata).toMatchObject({
    'general.architecture': 'gemma3',
    'gemma3.attention.sliding_window': 7,
    'gemma3.rope.freq_base': 1e6,
    'gemma3.rope.scaling.type': 'linear',
    'gemma3.rope.scaling.factor': 8,
  });
  const names = tensorInfos.map(({ name }) => name).filter((name) => name.startsWith('blk.5.'));
  const norms = [
    'attn_norm',
    'attn_q_norm',
    'attn_k_norm',
    'post_attention_norm',
    'ffn_norm',
    'post_ffw_norm',
  ];
  expect(names).toEqual(expect.arrayContaining(norms.map((name) => `blk.5.${name}.weight`)));
  const stored = tensors.get('model.layers.5.post_feedforward_layernorm.weight')!.data;
  expect(numbersOf('blk.5.post_ffw_norm.weight', 32)).toEqual([...stored].map((x) => Math.fround(1 + x)));
});

test('a scaling by wavelength is a tensor of factors', async () => {
  const rope_scaling = {
    ...{ rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 },
    original_max_position_embeddings: 1000,
  };
  const json = { ...LLAMA, rope_theta: 10_000, head_dim: 8, rope_scaling };
  const { numbersOf } = await file(json, bytesTokenizer());
  // Of 1, 0.1, 0.01 and 0.001 the first two stay, the last is divided by 8, and the third keeps 0.19718 of itself (rope.test.ts).
  const [a, b, c, d] = numbersOf('rope_freqs.weight', 4);
  expect([a, b, d]).toEqual([1, 1, 8]);
  expect(c).toBeCloseTo(1 / (0.19718 + 0.80282 / 8), 4);
});

test('SentencePiece: scores in the order of merges, kinds of pieces', async () => {
  const vocab = ['<unk>', '<bos>', '<0x41>', '▁', 'a', 't', 'at', '▁at'];
  const tokenizer = {
    added_tokens: [{ id: 1, content: '<bos>', special: true }],
    normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
    pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
    decoder: null,
    post_processor: null,
    model: {
      ...{ type: 'BPE', byte_fallback: true, unk_token: '<unk>' },
      vocab: Object.fromEntries(vocab.map((piece, id) => [piece, id])),
      merges: ['a t', '▁ at'],
    },
  };
  const { metadata } = await file({ ...GEMMA, vocab_size: 9 }, tokenizer);
  expect(metadata).toMatchObject({
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': [...vocab, '[PAD8]'],
    'tokenizer.ggml.token_type': [2, 3, 6, 1, 1, 1, 1, 1, 5],
    'tokenizer.ggml.add_space_prefix': false,
  });
  const scores = metadata['tokenizer.ggml.scores' as never] as number[];
  expect(scores.map((score) => score + 0)).toEqual([-2, -2, -2, -2, -2, -2, 0, -1, -2]);
  // llama.cpp would join ▁a and t, which no merge does.
  const merges = {
    ...tokenizer,
    model: { ...tokenizer.model, vocab: { ...tokenizer.model.vocab, '▁a': 8 } },
  };
  await expect(file({ ...GEMMA, vocab_size: 9 }, merges)).rejects.toThrow(
    'no merge makes "▁at" of "▁a" and "t"',
  );
});

const words = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const splitting = (Regex: string) => ({
  type: 'Sequence',
  pretokenizers: [
    { type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false },
    { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
  ],
});

test.each([
  ['qwen2', splitting(words)],
  ['dbrx', splitting(words.replace(String.raw`|\p{N}|`, String.raw`|\p{N}{1,3}|`))],
])('a splitting that llama.cpp calls %s', async (name, pre_tokenizer) => {
  const { metadata } = await file(LLAMA, bytesTokenizer({ pre_tokenizer }));
  expect(metadata['tokenizer.ggml.pre' as never]).toBe(name);
});

test.each<[string, Record<string, unknown>, object | undefined]>([
  ['has no tokenizer', LLAMA, undefined],
  ['its pre_tokenizer', LLAMA, bytesTokenizer({ pre_tokenizer: null })],
  ['its pre_tokenizer', LLAMA, bytesTokenizer({ pre_tokenizer: splitting('[a-z]+') })],
  ['its normalizer is Lowercase', LLAMA, bytesTokenizer({ normalizer: { type: 'Lowercase' } })],
  ['every sixth', { ...GEMMA, sliding_window_pattern: 3 }, bytesTokenizer()],
  ['equal to head_dim', { ...GEMMA, query_pre_attn_scalar: 24 }, bytesTokenizer()],
  [
    'patches of images',
    { ...LLAMA, vision: { patch_size: 8, rows: 4, columns: 4, token_id: 0 } },
    bytesTokenizer(),
  ],
  ['its activation is silu', { ...GEMMA, hidden_activation: 'silu' }, bytesTokenizer()],
  ['local rope_theta', { ...GEMMA, rope_local_base_freq: 5000 }, bytesTokenizer()],
  [
    'every fourth layer',
    { ...TINY_ARCHITECTURES.smollm3, ...vocabulary, no_rope_layers: [0, 1, 1, 1] },
    bytesTokenizer(),
  ],
  [
    'its rope_scaling is llama3',
    {
      ...{ ...LLAMA, model_type: 'qwen3' },
      rope_scaling: {
        ...{ rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 },
        original_max_position_embeddings: 1000,
      },
    },
    bytesTokenizer(),
  ],
  ['its YaRN', { ...LLAMA, rope_scaling: { rope_type: 'yarn', factor: 4, beta_fast: 8 } }, bytesTokenizer()],
])('refused by name: %s', async (why, json, tokenizer) => {
  await expect(file(json, tokenizer)).rejects.toMatchObject({
    code: 'export.gguf',
    message: expect.stringContaining(why),
  });
});
