/** A Llama or Qwen2 checkpoint as llama.cpp wants it: its names, its metadata, its order of rotated rows, a vocabulary. */
import type { ModelConfig } from '../../../model/config.ts';
import type { GgufValue } from '../../../model/gguf/format.ts';
import { ggufNames, modelMetadata, sourceRow } from '../../../model/gguf/model.ts';
import type { Tensor, Tensors } from '../../../model/safetensors.ts';
import { writeGguf } from './gguf.ts';

/** Text in which every token is one character, so that a text interface can be given ids and gives them back. */
const FIRST_CHARACTER = 0x100;
export const textOf = (ids: readonly number[]): string =>
  String.fromCharCode(...ids.map((id) => FIRST_CHARACTER + id));
export const idsOf = (text: string): number[] =>
  Array.from({ length: text.length }, (_, i) => text.charCodeAt(i) - FIRST_CHARACTER);

/** As an export has it, but for the tokenizer: the one that takes the longest match and has no special tokens, so that nothing ends generation early. */
function metadataOf(config: ModelConfig): Map<string, GgufValue> {
  const ids = Array.from({ length: config.vocabSize }, (_, id) => id);
  return new Map<string, GgufValue>([
    ...modelMetadata(config),
    ['tokenizer.ggml.model', { string: 'rwkv' }],
    ['tokenizer.ggml.tokens', { strings: ids.map((id) => textOf([id])) }],
    ['tokenizer.ggml.token_type', { i32s: ids.map(() => 1) }],
  ]);
}

export function ggufCheckpoint(
  config: ModelConfig,
  tensors: Tensors,
  matrices: 'F32' | 'Q8_0' = 'F32',
): Uint8Array {
  if (!['llama', 'qwen2'].includes(config.architecture) || config.layers[0]!.rope?.scaling)
    throw new Error('The bench converts Llama and Qwen2 checkpoints without rope scaling.');
  const renamed = ggufNames(config).map(([name, own]): [string, Tensor] => {
    const { shape, data } = tensors.get(name)!;
    const width = shape[1] ?? 1;
    const out = new Float32Array(data.length);
    for (let row = 0; row < shape[0]!; row++) {
      const from = sourceRow(config, name, row) * width;
      out.set(data.subarray(from, from + width), row * width);
    }
    return [own, { shape, data: out }];
  });
  return writeGguf(metadataOf(config), new Map(renamed), matrices);
}
