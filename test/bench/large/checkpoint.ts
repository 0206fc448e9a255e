/** Writes checkpoints of random weights in the layout of the Hugging Face Hub, a tensor at a time, with the tokenizer of another folder. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { tensorShapes } from '../../../model/checkpoint.ts';
import { type ModelConfig, parseConfig } from '../../../model/config.ts';
import { randomTensors } from '../../../model/init.ts';
import { bytesOf, encode, writeHeader } from '../../../model/safetensors.ts';

/** A shard is full when it has so many bytes; a tensor is never cut. */
const SHARD_BYTES = 256 * 2 ** 20;
const DTYPE = 'BF16';

const fileName = (shard: number, shards: number): string =>
  `model-${String(shard + 1).padStart(5, '0')}-of-${String(shards).padStart(5, '0')}.safetensors`;

const sizeOf = (shape: readonly number[]): number => bytesOf[DTYPE] * shape.reduce((a, b) => a * b, 1);

/** The names of the tensors of each shard, in the order of the forward pass. */
function shardsOf(shapes: ReadonlyMap<string, readonly number[]>): string[][] {
  const shards: string[][] = [[]];
  let bytes = 0;
  for (const [name, shape] of shapes) {
    if (bytes >= SHARD_BYTES) {
      shards.push([]);
      bytes = 0;
    }
    shards.at(-1)!.push(name);
    bytes += sizeOf(shape);
  }
  return shards;
}

/** The rows of embeddings that a tokenizer's ids need, rounded up as checkpoints have them. */
function vocabSizeOf(tokenizer: string): number {
  const { model, added_tokens = [] } = JSON.parse(
    readFileSync(join(tokenizer, 'tokenizer.json'), 'utf8'),
  ) as {
    model: { vocab: Record<string, number> };
    added_tokens?: readonly { id: number }[];
  };
  const ids = [...Object.values(model.vocab), ...added_tokens.map(({ id }) => id)];
  const largest = ids.reduce((most, id) => Math.max(most, id), 0);
  return 64 * Math.ceil((largest + 1) / 64);
}

/** Writes the folder: shards in bf16 with their index, config and tokenizer. `hf` is the config without the vocabulary. */
export function writeCheckpoint(
  folder: string,
  hf: Readonly<Record<string, unknown>>,
  tokenizer: string,
): ModelConfig {
  const json = { ...hf, vocab_size: vocabSizeOf(tokenizer), torch_dtype: 'bfloat16' };
  const config = parseConfig(json);
  mkdirSync(folder);
  writeFileSync(join(folder, 'config.json'), JSON.stringify(json));
  const shapes = tensorShapes(config);
  const shards = shardsOf(shapes);
  const tensors = randomTensors(config, 'bench');
  const weightMap: Record<string, string> = {};
  for (const [i, names] of shards.entries()) {
    const name = fileName(i, shards.length);
    const file = openSync(join(folder, name), 'w');
    writeSync(file, writeHeader(names.map((of) => ({ name: of, shape: shapes.get(of)!, dtype: DTYPE }))));
    for (const of of names) {
      const [, { data }] = tensors.next().value!;
      writeSync(file, encode(data, DTYPE));
      weightMap[of] = name;
    }
    closeSync(file);
  }
  const total = [...shapes.values()].reduce((sum, shape) => sum + sizeOf(shape), 0);
  writeFileSync(
    join(folder, 'model.safetensors.index.json'),
    JSON.stringify({ metadata: { total_size: total }, weight_map: weightMap }),
  );
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    if (existsSync(join(tokenizer, name))) copyFileSync(join(tokenizer, name), join(folder, name));
  return config;
}
