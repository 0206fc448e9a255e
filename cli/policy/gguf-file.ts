/** The GGUF file of a stored version, as a stream: a checkpoint need not fit into memory. */

import { wrongInput } from '../../core/errors.ts';
import type { FileStream, VersionFiles } from '../../core/schema/policy.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { type StoredTensor, type StoredTensors, valuesOf } from '../../model/checkpoint-files.ts';
import type { ModelConfig } from '../../model/config.ts';
import {
  align,
  type GgufTensor,
  type GgufType,
  type GgufValue,
  ggufHeader,
} from '../../model/gguf/format.ts';
import { checkGguf, ggufNames, modelMetadata, ropeFactors, sourceRow } from '../../model/gguf/model.ts';
import { tokenizerMetadata } from '../../model/gguf/tokenizer.ts';
import { bytesOf, encode } from '../../model/safetensors.ts';

/** The format's numbers of what most tensors are, by their type. */
const FILE_TYPES = { F32: 0, F16: 1, BF16: 32 } as const;
export type GgufNumbers = keyof typeof FILE_TYPES;

interface Part extends GgufTensor {
  /** Its data, in order. */
  readonly read: () => AsyncIterable<Uint8Array>;
}

/** Rows of a projection in another order, one head at a time. */
async function* reordered(
  values: AsyncIterable<Float32Array>,
  width: number,
  headDim: number,
  source: (row: number) => number,
): AsyncGenerator<Float32Array> {
  const head = new Float32Array(headDim * width);
  let filled = 0;
  for await (let chunk of values)
    while (chunk.length) {
      const taken = chunk.subarray(0, head.length - filled);
      head.set(taken, filled);
      filled += taken.length;
      chunk = chunk.subarray(taken.length);
      if (filled < head.length) continue;
      filled = 0;
      const out = new Float32Array(head.length);
      for (let row = 0; row < headDim; row++)
        out.set(head.subarray(source(row) * width, (source(row) + 1) * width), row * width);
      yield out;
    }
}

function partOf(
  config: ModelConfig,
  stored: StoredTensor,
  name: string,
  renamed: string,
  numbers: GgufNumbers,
): Part {
  const { shape } = stored;
  // Vectors are small, and llama.cpp reads them in float32 alone.
  const type: GgufType = shape.length > 1 ? numbers : 'F32';
  const isNorm = /norm\.weight$/.test(name);
  const plus = isNorm ? config.gainOffset : 0;
  const size = shape.reduce((a, b) => a * b, 1);
  const width = shape[1] ?? 1;
  return {
    name: renamed,
    shape,
    type,
    bytes: size * bytesOf[type as GgufNumbers],
    async *read() {
      const rows = /\.self_attn\.[qk]_proj\./.test(name)
        ? reordered(valuesOf(stored), width, config.headDim, (row) => sourceRow(config, name, row))
        : valuesOf(stored);
      for await (const values of rows)
        yield encode(plus ? values.map((x) => x + plus) : values, type as GgufNumbers);
    },
  };
}

/** Frequencies as llama.cpp's Llama reads them, where they are scaled by wavelength. */
function ropePart(config: ModelConfig): Part[] {
  const factors = ropeFactors(config);
  if (!factors) return [];
  const bytes = encode(factors, 'F32');
  return [
    {
      ...{ name: 'rope_freqs.weight', shape: [factors.length], type: 'F32', bytes: bytes.length },
      async *read() {
        yield bytes;
      },
    },
  ];
}

const parsed = (bytes: Uint8Array | undefined): unknown =>
  bytes && JSON.parse(new TextDecoder().decode(bytes));

/** Throws `export.gguf` for a model or a tokenizer that llama.cpp has no form for. */
export function ggufFile(
  name: string,
  config: ModelConfig,
  files: VersionFiles,
  tensors: StoredTensors,
  numbers: GgufNumbers,
): FileStream {
  checkGguf(config);
  const tokenizer = parsed(files['tokenizer.json']);
  if (!tokenizer)
    throw wrongInput('export.gguf', 'The policy has no tokenizer, and llama.cpp needs one.', {
      expected: 'a policy that was imported with its tokenizer',
    });
  const told = (parsed(files['tokenizer_config.json']) ?? {}) as Record<string, unknown>;
  const addsBegin = openTokenizer(tokenizer, told).encodeWhole('a')[0] === config.bosId;
  const metadata = new Map<string, GgufValue>([
    ...modelMetadata(config),
    ['general.name', { string: name }],
    ['general.file_type', { u32: FILE_TYPES[numbers] }],
    ...tokenizerMetadata(config, { tokenizer, config: told, addsBegin }),
  ]);
  const parts = [
    ...ropePart(config),
    ...ggufNames(config).map(([own, renamed]) => partOf(config, tensors.get(own)!, own, renamed, numbers)),
  ];
  const header = ggufHeader(metadata, parts);
  return {
    bytes: parts.reduce((sum, { bytes }) => sum + align(bytes), header.length),
    async *read() {
      yield header;
      for (const { read, bytes } of parts) {
        yield* read();
        yield new Uint8Array(align(bytes) - bytes);
      }
    },
  };
}
