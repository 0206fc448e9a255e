/**
 * The weights of a Hugging Face checkpoint folder: one model.safetensors, or shards named by model.safetensors.index.json. Only headers are
 * read at first; the numbers are read as a stream, so that a checkpoint need not fit into memory. Node only.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../core/errors.ts';
import type { FileStream } from '../core/schema/policy.ts';
import { checkCheckpoint, checkTensor, tensorShapes } from './checkpoint.ts';
import type { ModelConfig } from './config.ts';
import { LARGEST_TEXT, readRegularFile, sizeOfRegularFile } from './regular-file.ts';
import {
  bytesOf,
  decode,
  type Entry,
  encode,
  entriesOf,
  headerEnd,
  type StorageType,
  writeHeader,
} from './safetensors.ts';

/** A tensor in a file: bytes [start + from, start + to) of `path`. */
export interface StoredTensor extends Entry {
  readonly path: string;
  readonly start: number;
}
export type StoredTensors = ReadonlyMap<string, StoredTensor>;

const shardIndex = v.looseObject({
  weight_map: v.record(v.string(), v.pipe(v.string(), v.regex(/^[\w.-]+$/))),
});

const missing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * Finds all tensors of a checkpoint folder.
 *
 * @throws RollmeshError `checkpoint.files` when there are no weights or the index is malformed, names a file that is not there, or a
 * tensor its file lacks; `safetensors.*` for what is no whole file; `file.kind` for what is no regular file.
 */
export async function findTensors(folder: string): Promise<StoredTensors> {
  const single = await tensorsOf(join(folder, 'model.safetensors')).catch((error: unknown) => {
    if (missing(error)) return undefined;
    throw error;
  });
  if (single) return single;
  const files = await readShardMap(folder);
  const tensors = new Map<string, StoredTensor>();
  for (const file of new Set(files.values()))
    for (const [name, tensor] of await tensorsOfShard(folder, file)) tensors.set(name, tensor);
  for (const [name, file] of files)
    if (!tensors.has(name))
      throw wrongInput('checkpoint.files', `The index puts ${name} into ${file}, which does not hold it.`);
  return tensors;
}

/** The tensors of one file. */
export async function tensorsOf(path: string): Promise<StoredTensors> {
  const size = await sizeOfRegularFile(path);
  const file = await open(path);
  try {
    const first = new Uint8Array(8);
    await file.read(first, 0, 8, 0);
    const start = headerEnd(first, size);
    const header = new Uint8Array(start - 8);
    await file.read(header, 0, header.length, 8);
    const entries = entriesOf(header, start, size);
    const end = entries.reduce((last, { to }) => Math.max(last, start + to), start);
    if (end < size)
      throw wrongInput('safetensors.invalid', `${path} has ${size} bytes, and its tensors end at ${end}.`, {
        expected: 'a file that ends with its last tensor',
        next: 'Download or write it again.',
      });
    return new Map(entries.map((entry) => [entry.name, { ...entry, path, start }]));
  } finally {
    await file.close();
  }
}

async function readShardMap(folder: string): Promise<Map<string, string>> {
  const path = join(folder, 'model.safetensors.index.json');
  try {
    const text = new TextDecoder().decode(await readRegularFile(path, LARGEST_TEXT));
    return new Map(Object.entries(v.parse(shardIndex, JSON.parse(text)).weight_map));
  } catch (cause) {
    if (cause instanceof RollmeshError) throw cause;
    throw wrongInput('checkpoint.files', `No weights could be read in ${folder}.`, {
      expected: 'model.safetensors, or model.safetensors.index.json with its shards',
      cause,
    });
  }
}

async function tensorsOfShard(folder: string, file: string): Promise<StoredTensors> {
  try {
    return await tensorsOf(join(folder, file));
  } catch (cause) {
    if (cause instanceof RollmeshError) throw cause;
    throw wrongInput('checkpoint.files', `The shard ${file} could not be read in ${folder}.`, {
      expected: 'every file that model.safetensors.index.json names',
      cause,
    });
  }
}

/** Bytes that are read at once; a multiple of every type's size. */
const CHUNK_BYTES = 4 << 20;

/** The numbers of a tensor as they are stored, chunk by chunk. */
async function* chunksOf({ path, start, from, to }: StoredTensor): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    for (let at = start + from; at < start + to; at += CHUNK_BYTES) {
      const chunk = new Uint8Array(Math.min(CHUNK_BYTES, start + to - at));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
      if (bytesRead < chunk.length)
        throw wrongInput('safetensors.invalid', `${path} became shorter while it was read.`, {
          expected: 'a file that nobody writes to',
          next: 'Try again when it is whole.',
        });
      yield chunk;
    }
  } finally {
    await file.close();
  }
}

/** The numbers of a tensor, chunk by chunk. */
export async function* valuesOf(tensor: StoredTensor): AsyncGenerator<Float32Array> {
  for await (const chunk of chunksOf(tensor)) yield decode(tensor.dtype, chunk);
}

/** Checks as `checkCheckpoint` does, and reads all numbers once for it. */
export async function checkStored(
  config: ModelConfig,
  tensors: StoredTensors,
  tokenizerSize?: number,
): Promise<void> {
  // Names and shapes first, which takes no time.
  const bare = [...tensors].map(([name, { shape }]) => [name, { shape, data: new Float32Array(0) }] as const);
  checkCheckpoint(config, new Map(bare), tokenizerSize);
  for (const [name, shape] of tensorShapes(config)) {
    const tensor = tensors.get(name)!;
    for await (const data of valuesOf(tensor)) checkTensor(name, tensor.shape, data, shape);
  }
}

/** Tensors that `checkStored` accepted, in the canonical order, in the type `dtype` or the one in which each is stored. */
function inOrder(config: ModelConfig, tensors: StoredTensors, dtype?: StorageType) {
  return [...tensorShapes(config).keys()].map((name) => {
    const stored = tensors.get(name)!;
    return { stored, name, shape: stored.shape, dtype: dtype ?? stored.dtype };
  });
}

/** The numbers alone, in the canonical order. */
export function storedNumbers(config: ModelConfig, tensors: StoredTensors, dtype?: StorageType): FileStream {
  const ordered = inOrder(config, tensors, dtype);
  const bytes = ordered.reduce(
    (sum, { stored, dtype }) => sum + ((stored.to - stored.from) / bytesOf[stored.dtype]) * bytesOf[dtype],
    0,
  );
  const read = async function* () {
    for (const { stored, dtype } of ordered)
      for await (const chunk of chunksOf(stored))
        yield dtype === stored.dtype ? chunk : encode(decode(stored.dtype, chunk), dtype);
  };
  return { bytes, read };
}

/** A safetensors file of the tensors in the canonical order; in float32, `writeSafetensors` gives the same bytes. */
export function storedFile(
  config: ModelConfig,
  tensors: StoredTensors,
  dtype?: StorageType,
): FileStream & { readonly header: number } {
  const header = writeHeader(inOrder(config, tensors, dtype));
  const numbers = storedNumbers(config, tensors, dtype);
  const read = async function* () {
    yield header;
    yield* numbers.read();
  };
  return { header: header.length, bytes: header.length + numbers.bytes, read };
}
