/**
 * A low-rank adapter as llama.cpp loads one onto a model (`--lora`): pairs `<tensor>.lora_a` [rank, in] and `<tensor>.lora_b` [out, rank] under
 * the names of the model's file, whose sum of products it weights by alpha / rank as PEFT does.
 */
import { type Adapter, adapterNames, checkAdapter, ranksOf } from '../adapter.ts';
import type { ModelConfig } from '../config.ts';
import { encode, type Tensor } from '../safetensors.ts';
import { align, type GgufTensor, type GgufValue, ggufHeader } from './format.ts';
import { architectureMetadata, checkGguf, ggufName, sourceRow } from './model.ts';

/** B with its rows where those of its projection stand in the model's file. */
function reordered(config: ModelConfig, weight: string, { shape, data }: Tensor): Tensor {
  const [out, rank] = shape as [number, number];
  const rows = new Float32Array(data.length);
  for (let row = 0; row < out; row++) {
    const from = sourceRow(config, weight, row) * rank;
    rows.set(data.subarray(from, from + rank), row * rank);
  }
  return { shape, data: rows };
}

/**
 * The file, in float32. `name`: what it says of itself.
 * @throws RollmeshError `export.gguf`, or as `checkAdapter` does
 */
export function ggufAdapter(name: string, config: ModelConfig, adapter: Adapter): Uint8Array {
  checkGguf(config);
  checkAdapter(config, adapter);
  const metadata = new Map<string, GgufValue>([
    ...architectureMetadata(config),
    ['general.type', { string: 'adapter' }],
    ['general.name', { string: name }],
    ['adapter.type', { string: 'lora' }],
    ['adapter.lora.alpha', { f32: adapter.alpha }],
  ]);
  const tensors = [...ranksOf(adapter).keys()].flatMap((weight): [string, Tensor][] => {
    const { a, b } = adapterNames(weight);
    const renamed = ggufName(config, weight);
    return [
      [`${renamed}.lora_a`, adapter.tensors.get(a)!],
      [`${renamed}.lora_b`, reordered(config, weight, adapter.tensors.get(b)!)],
    ];
  });
  const header = ggufHeader(
    metadata,
    tensors.map(
      ([of, { shape, data }]): GgufTensor => ({ name: of, shape, type: 'F32', bytes: 4 * data.length }),
    ),
  );
  const file = new Uint8Array(
    tensors.reduce((sum, [, { data }]) => sum + align(4 * data.length), header.length),
  );
  file.set(header);
  let at = header.length;
  for (const [, { data }] of tensors) {
    file.set(encode(data, 'F32'), at);
    at += align(4 * data.length);
  }
  return file;
}
