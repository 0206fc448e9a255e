import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkCheckpoint, parameterCount, tensorShapes } from '../../model/checkpoint.ts';
import { parseConfig } from '../../model/config.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { packWeights } from '../../model/onnx/weights.ts';
import { readSafetensors, type Tensors, writeSafetensors } from '../../model/safetensors.ts';
import { TINY_ARCHITECTURES, TINY_NAMES } from './architectures.ts';

const folder = 'test/oracle/models';
const configJson = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(`${folder}/${name}/config.json`, 'utf8'));
const bytes = (name: string) => readFileSync(`${folder}/${name}/model.safetensors`);

test.each(['llama', 'qwen2', 'qwen3'])('%s: reads, checks and writes back bit for bit', (name) => {
  const config = parseConfig(configJson(name));
  const tensors = readSafetensors(bytes(name));
  checkCheckpoint(config, tensors, 67);
  expect(parameterCount(config)).toBe([...tensors.values()].reduce((n, t) => n + t.data.length, 0));
  expect(readSafetensors(writeSafetensors(tensors))).toEqual(tensors);
  expect(parseConfig(toHfConfig(config))).toEqual(config);
});

test('half and bfloat16 round to nearest even', () => {
  // 1 + 2^-11 lies half way between two halves, 1 + 3 * 2^-11 too; the same for bfloat16 with 2^-8.
  const half = new Map([
    [
      'x',
      { shape: [6], data: Float32Array.of(1 + 2 ** -11, 1 + 3 * 2 ** -11, 65504, 65520, -(2 ** -24), 0.1) },
    ],
  ]);
  expect([...readSafetensors(writeSafetensors(half, 'F16')).get('x')!.data]).toEqual([
    1,
    1 + 2 ** -9,
    65504,
    Number.POSITIVE_INFINITY,
    -(2 ** -24),
    0.0999755859375,
  ]);
  const brain = new Map([
    ['x', { shape: [4], data: Float32Array.of(1 + 2 ** -8, 1 + 3 * 2 ** -8, -3.140625, 3e38) }],
  ]);
  const back = readSafetensors(writeSafetensors(brain, 'BF16')).get('x')!.data;
  expect([...back.subarray(0, 3)]).toEqual([1, 1 + 2 ** -6, -3.140625]);
  expect(Math.abs(back[3]! / 3e38 - 1)).toBeLessThan(2 ** -8);
});

test('a file cut off anywhere is refused', () => {
  const whole = bytes('llama');
  for (const length of [0, 7, 8, 500, 4000, whole.length - 1])
    expect(() => readSafetensors(whole.subarray(0, length))).toThrow(/cut off|bytes|not JSON/);
});

const tensorsWith = (change: (tensors: Tensors) => void): Tensors => {
  const tensors = readSafetensors(bytes('llama'));
  change(tensors);
  return tensors;
};

test.each<[string, (tensors: Tensors) => void]>([
  ['checkpoint.missing', (t) => t.delete('model.layers.1.mlp.up_proj.weight')],
  [
    'checkpoint.unexpected',
    (t) => t.set('model.layers.2.mlp.up_proj.weight', { shape: [1], data: new Float32Array(1) }),
  ],
  ['checkpoint.shape', (t) => t.set('lm_head.weight', { shape: [48, 67], data: new Float32Array(48 * 67) })],
  ['checkpoint.not-finite', (t) => t.get('model.norm.weight')!.data.fill(Number.NaN, 5, 6)],
])('%s', (code, change) => {
  expect(() => checkCheckpoint(parseConfig(configJson('llama')), tensorsWith(change))).toThrow(
    expect.objectContaining({ kind: 'wrong-input', code }),
  );
});

test('a tokenizer with more ids than embeddings is refused', () => {
  expect(() =>
    checkCheckpoint(parseConfig(configJson('llama')), readSafetensors(bytes('llama')), 68),
  ).toThrow(expect.objectContaining({ code: 'checkpoint.tokenizer' }));
});

test.each<[string, Record<string, unknown>]>([
  ['config.unsupported', { model_type: 'gpt2' }],
  ['config.unsupported', { rope_scaling: { rope_type: 'longrope', factor: 2 } }],
  [
    'config.unsupported',
    { rope_scaling: { rope_type: 'dynamic', factor: 2, original_max_position_embeddings: 32 } },
  ],
  ['config.unsupported', { layer_types: ['full_attention', 'linear_attention'] }],
  ['config.invalid', { layer_types: ['full_attention'] }],
  ['config.invalid', { model_type: 'smollm3', no_rope_layers: [1] }],
  ['config.invalid', { model_type: 'smollm3', no_rope_layers: [1, 2] }],
  ['config.invalid', { model_type: undefined }],
  ['config.unsupported', { attention_bias: true }],
  ['config.unsupported', { hidden_act: 'gelu' }],
  ['config.unsupported', { use_sliding_window: true }],
  ['config.unsupported', { partial_rotary_factor: 0.5 }],
  ['config.invalid', { vocab_size: undefined }],
  ['config.invalid', { hidden_size: 48.5 }],
  ['config.invalid', { num_key_value_heads: 4 }],
  ['config.invalid', { rope_scaling: { rope_type: 'llama3', factor: 8 } }],
])('%s for %j', (code, change) => {
  expect(() => parseConfig({ ...configJson('llama'), ...change })).toThrow(
    expect.objectContaining({ kind: 'wrong-input', code }),
  );
});

test.each<[string, Record<string, unknown>]>([
  ['towers for images or sound', { model_type: 'gemma3', text_config: {}, vision_config: {} }],
  ['a mixture of experts', { model_type: 'mixtral', num_local_experts: 8 }],
  ['a mixture of experts', { model_type: 'qwen3_moe', num_experts: 128 }],
  ['recurrent layers', { model_type: 'mamba', state_size: 16 }],
  ['recurrent layers', { model_type: 'qwen3_next', linear_num_key_heads: 16 }],
  ['recurrent layers', { model_type: 'lfm2', conv_L_cache: 3 }],
])('what cannot be computed is named with the reason: %s', (why, json) => {
  expect(() => parseConfig(json)).toThrow(new RegExp(`"${json.model_type}" is not read: it (is|has) ${why}`));
});

test('what config.json leaves out has the values that transformers gives it', () => {
  const { vocab_size, hidden_size, intermediate_size, num_attention_heads, num_key_value_heads } =
    configJson('llama');
  const least = { vocab_size, hidden_size, intermediate_size, num_attention_heads, num_key_value_heads };
  const read = (json: Record<string, unknown>) =>
    parseConfig({ ...least, num_hidden_layers: 5, max_position_embeddings: 64, ...json });
  const smol = read({ model_type: 'smollm3' });
  expect(read({ model_type: 'olmo2' })).toMatchObject({ tiedEmbeddings: false, rmsNormEps: 1e-5 });
  expect(smol).toMatchObject({ tiedEmbeddings: true, rmsNormEps: 1e-6 });
  expect(smol.layers.map(({ rope }) => rope?.theta)).toEqual([2e6, 2e6, 2e6, undefined, 2e6]);
  const third = read({ model_type: 'smollm3', no_rope_layer_interval: 3 });
  expect(third.layers.map(({ rope }) => rope !== null)).toEqual([true, true, false, true, true]);
});

test("Gemma's layers, from what transformers 4 and 5 write", () => {
  const {
    rope_theta: _,
    rope_local_base_freq,
    rope_scaling,
    sliding_window_pattern,
    ...json
  } = TINY_ARCHITECTURES.gemma3_text;
  const global = { window: null, rope: { theta: 1e6, scaling: { type: 'linear', factor: 8 } } };
  const local = { window: 7, rope: { theta: 1e4, scaling: null } };
  const layers = [local, local, global, local, local, global];
  expect(parseConfig(TINY_ARCHITECTURES.gemma3_text)).toMatchObject({
    ...{ layers, queryScalar: 24, gainOffset: 1, scalesEmbeddings: true, tiedEmbeddings: true },
  });
  const of = (type: string) => ({
    rope_type: 'default',
    rope_theta: 1e4,
    ...(type === 'full' ? rope_scaling : {}),
  });
  const five = {
    ...json,
    layer_types: layers.map(({ window }) => (window ? 'sliding_attention' : 'full_attention')),
    rope_parameters: {
      full_attention: { ...of('full'), rope_theta: 1e6 },
      sliding_attention: of('sliding'),
    },
  };
  expect(parseConfig(five)).toEqual(parseConfig(TINY_ARCHITECTURES.gemma3_text));
  // Five of six layers see a window of 4096 keys by default.
  const { sliding_window: __, query_pre_attn_scalar, head_dim, ...least } = json;
  const plain = parseConfig(least);
  expect(plain.layers.map(({ window }) => window)).toEqual([4096, 4096, 4096, 4096, 4096, null]);
  expect(plain).toMatchObject({ queryScalar: 256, headDim: 256 });
  expect(plain.layers.at(-1)!.rope).toEqual({ theta: 1e6, scaling: null });
  for (const change of [
    { attn_logit_softcapping: 50 },
    { final_logit_softcapping: 30 },
    { use_bidirectional_attention: true },
    { hidden_activation: 'gelu' },
    { rope_parameters: { sliding_attention: { rope_type: 'linear', factor: 2 } } },
    { layer_types: new Array(6).fill('chunked_attention') },
  ])
    expect(() => parseConfig({ ...json, ...change }), Object.keys(change)[0]).toThrow(
      expect.objectContaining({ code: 'config.unsupported' }),
    );
});

test.each(TINY_NAMES)('%s: config.json is read, written and read again', (name) => {
  const config = parseConfig(TINY_ARCHITECTURES[name]);
  expect(parseConfig(toHfConfig(config))).toEqual(config);
  expect(toHfConfig(config)).toMatchObject({ architectures: [...TINY_ARCHITECTURES[name].architectures] });
});

test.each<[string, object]>([
  ['a first layer without positions', { ...TINY_ARCHITECTURES.smollm3, no_rope_layers: [0, 1, 1, 1] }],
  ['a scalar as wide as a head', { ...TINY_ARCHITECTURES.gemma3_text, query_pre_attn_scalar: 16 }],
  ['the default scalar', { ...TINY_ARCHITECTURES.gemma3_text, query_pre_attn_scalar: 256 }],
  ['SiLU in Gemma', { ...TINY_ARCHITECTURES.gemma3_text, hidden_activation: 'silu' }],
])('%s is kept where config.json is written', (_, json) => {
  const config = parseConfig(json);
  expect(parseConfig(toHfConfig(config))).toEqual(config);
});

test('rope parameters are found where transformers 5 writes them', () => {
  const json = {
    ...configJson('llama'),
    rope_theta: undefined,
    rope_parameters: { rope_type: 'linear', factor: 4, rope_theta: 5e5 },
  };
  expect(parseConfig(json)).toMatchObject({
    layers: [{ rope: { theta: 5e5, scaling: { type: 'linear', factor: 4 } } }, {}],
  });
});

test('a file in the canonical order is its own weight file; any other is repacked', () => {
  const config = parseConfig(configJson('qwen2'));
  const stored = readSafetensors(bytes('qwen2'));
  const inOrder = new Map([...tensorShapes(config).keys()].map((name) => [name, stored.get(name)!]));
  const file = writeSafetensors(inOrder);
  const packed = packWeights(config, readSafetensors(file));
  expect(packed.buffer).toBe(file.buffer);
  const shuffled = new Map([...readSafetensors(file)].reverse());
  const repacked = packWeights(config, readSafetensors(writeSafetensors(shuffled)));
  expect(repacked.buffer).not.toBe(file.buffer);
  expect(repacked).toEqual(packed);
});
