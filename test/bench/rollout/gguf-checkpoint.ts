/** A Llama or Qwen2 checkpoint as llama.cpp wants it: its names, its metadata, its order of rotated rows, a vocabulary. */
import type { ModelConfig } from '../../../model/config.ts';
import type { Tensor, Tensors } from '../../../model/safetensors.ts';
import { type GgufValue, writeGguf } from './gguf.ts';

/** Text in which every token is one character, so that a text interface can be given ids and gives them back. */
const FIRST_CHARACTER = 0x100;
export const textOf = (ids: readonly number[]): string =>
  String.fromCharCode(...ids.map((id) => FIRST_CHARACTER + id));
export const idsOf = (text: string): number[] =>
  Array.from({ length: text.length }, (_, i) => text.charCodeAt(i) - FIRST_CHARACTER);

const ofModel: Readonly<Record<string, string>> = {
  'model.embed_tokens': 'token_embd',
  'model.norm': 'output_norm',
  lm_head: 'output',
};
const ofLayer: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

export function ggufName(name: string): string {
  const [, layer, part, kind] = /^(?:model\.layers\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name) ?? [];
  const renamed = (layer === undefined ? ofModel : ofLayer)[part ?? ''];
  if (!renamed) throw new Error(`llama.cpp has no name for ${name}.`);
  return `${layer === undefined ? '' : `blk.${layer}.`}${renamed}.${kind}`;
}

/**
 * Rows of a q or k projection in the order in which llama.cpp's Llama rotates them: a pair of neighbours, where the
 * checkpoint's pair is half a head apart. Row 2i + s of a head is the checkpoint's row s * headDim / 2 + i.
 */
export function interleaveHalves({ shape, data }: Tensor, headDim: number): Tensor {
  const [rows, columns] = shape as [number, number];
  const out = new Float32Array(data.length);
  for (let row = 0; row < rows; row++) {
    const inHead = row % headDim;
    const from = row - inHead + (inHead % 2) * (headDim / 2) + Math.floor(inHead / 2);
    out.set(data.subarray(from * columns, (from + 1) * columns), row * columns);
  }
  return { shape: [rows, columns], data: out };
}

function metadataOf(config: ModelConfig): Map<string, GgufValue> {
  const { architecture: arch } = config;
  const ids = Array.from({ length: config.vocabSize }, (_, id) => id);
  return new Map<string, GgufValue>([
    ['general.architecture', { string: arch }],
    [`${arch}.context_length`, { u32: config.maxPositions }],
    [`${arch}.embedding_length`, { u32: config.hiddenSize }],
    [`${arch}.block_count`, { u32: config.layers.length }],
    [`${arch}.feed_forward_length`, { u32: config.intermediateSize }],
    [`${arch}.attention.head_count`, { u32: config.heads }],
    [`${arch}.attention.head_count_kv`, { u32: config.kvHeads }],
    [`${arch}.attention.key_length`, { u32: config.headDim }],
    [`${arch}.attention.value_length`, { u32: config.headDim }],
    [`${arch}.attention.layer_norm_rms_epsilon`, { f32: config.rmsNormEps }],
    [`${arch}.rope.dimension_count`, { u32: config.headDim }],
    [`${arch}.rope.freq_base`, { f32: config.layers[0]!.rope!.theta }],
    // The one tokenizer that takes the longest match and has no special tokens: nothing ends generation early.
    ['tokenizer.ggml.model', { string: 'rwkv' }],
    ['tokenizer.ggml.tokens', { strings: ids.map((id) => textOf([id])) }],
    ['tokenizer.ggml.token_type', { i32s: ids.map(() => 1) }],
  ]);
}

export function ggufCheckpoint(
  config: ModelConfig,
  tensors: Tensors,
  matrices: 'f32' | 'q8_0' = 'f32',
): Uint8Array {
  if (!['llama', 'qwen2'].includes(config.architecture) || config.layers[0]!.rope?.scaling)
    throw new Error('The bench converts Llama and Qwen2 checkpoints without rope scaling.');
  const rotated = /\.self_attn\.[qk]_proj\.weight$/;
  const renamed = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) {
    // Qwen2 is rotated by halves there, too.
    const interleaved = config.architecture === 'llama' && rotated.test(name);
    renamed.set(ggufName(name), interleaved ? interleaveHalves(tensor, config.headDim) : tensor);
  }
  return writeGguf(metadataOf(config), renamed, matrices);
}
