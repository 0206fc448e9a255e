/**
 * The safetensors file format: an 8-byte length, a JSON header, raw little-endian tensors. Tensors are read into float32 from any
 * of the float types F32, F16 and BF16. This file reads single files; checkpoint-files.ts merges shards.
 */
import * as v from 'valibot';
import { wrongInput } from '../core/errors.ts';
import { fromBfloat16, fromHalf, toBfloat16, toHalf } from './half.ts';

export interface Tensor {
  readonly shape: number[];
  readonly data: Float32Array;
}

export type Tensors = Map<string, Tensor>;
export type StorageType = 'F32' | 'F16' | 'BF16';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const entry = v.object({ dtype: v.string(), shape: v.array(count), data_offsets: v.tuple([count, count]) });
const header = v.objectWithRest({ __metadata__: v.optional(v.record(v.string(), v.string())) }, entry);

const bad = (what: string) =>
  wrongInput('safetensors.invalid', what, {
    expected: 'a whole .safetensors file',
    next: 'Download or write it again.',
  });

/** Bounds of the header, checked before it is read as JSON and before its entries are checked one by one. */
const LONGEST_HEADER = 16 * 2 ** 20;
const MOST_TENSORS = 32_768;

export const bytesOf = { F32: 4, F16: 2, BF16: 2 };
const isStorageType = (dtype: string): dtype is StorageType => Object.hasOwn(bytesOf, dtype);
/** What files of ours hold besides: numbers that mean something only to those who wrote them. No checkpoint is read with such a type. */
const storedBytes = { ...bytesOf, U8: 1 };
export type StoredType = keyof typeof storedBytes;
const isStoredType = (dtype: string): dtype is StoredType => Object.hasOwn(storedBytes, dtype);

/** A tensor as it lies in a file. */
export interface StoredTensor<Type extends StoredType = StoredType> {
  readonly dtype: Type;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** Converts stored values to float32; values stored as float32 are a view of the bytes where these are aligned. */
export function decode(dtype: StorageType, bytes: Uint8Array): Float32Array {
  if (dtype === 'F32' && bytes.byteOffset % 4 === 0)
    return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  // `slice` does not make an aligned copy here: the one of Node's Buffer shares the memory.
  const { buffer } = new Uint8Array(bytes);
  if (dtype === 'F32') return new Float32Array(buffer);
  return (dtype === 'F16' ? fromHalf : fromBfloat16)(new Uint16Array(buffer));
}

/**
 * Reads all tensors as float32. Those stored as float32 are views of the bytes where these are aligned, so that an isolate
 * need not hold the weights twice. A caller that changes tensors in place must therefore own the bytes.
 *
 * @throws RollmeshError `safetensors.invalid` for a truncated or damaged file or a type other than F32, F16, BF16.
 */
export function readSafetensors(bytes: Uint8Array): Tensors {
  const start = headerEnd(bytes, bytes.length);
  const tensors: Tensors = new Map();
  for (const { name, dtype, shape, from, to } of entriesOf(bytes.subarray(8, start), start, bytes.length))
    tensors.set(name, { shape, data: decode(dtype, bytes.subarray(start + from, start + to)) });
  return tensors;
}

/** What a file says of itself, besides its tensors. Throws `safetensors.invalid` as `readSafetensors` does. */
export const readMetadata = (bytes: Uint8Array): Readonly<Record<string, string>> =>
  parseHeader(bytes.subarray(8, headerEnd(bytes, bytes.length))).__metadata__ ?? {};

/** Where the header of a file of `size` bytes ends, by the first eight of them. Throws `safetensors.invalid` where that cannot be. */
export function headerEnd(first: Uint8Array, size: number): number {
  if (size < 8) throw bad(`The file has ${size} bytes.`);
  const view = new DataView(first.buffer, first.byteOffset, 8);
  const headerLength = Number(view.getBigUint64(0, true));
  if (headerLength > LONGEST_HEADER)
    throw bad(`The header claims ${headerLength} bytes, more than the ${LONGEST_HEADER} that are read.`);
  if (8 + headerLength > size)
    throw bad(
      `The header claims ${headerLength} bytes, the file has ${size}: it is cut off or not safetensors.`,
    );
  return 8 + headerLength;
}

/** The entries of a header that ends at byte `start` of a file of `size` bytes. Throws `wrong-input` where one ends beyond the file. */
export function entriesOf(header: Uint8Array, start: number, size: number): Entry[] {
  const entries = readHeader(header);
  refuseCutOff(entries, start, size);
  return entries;
}

function refuseCutOff(entries: readonly Entry<StoredType>[], start: number, size: number): void {
  for (const { name, to } of entries)
    if (start + to > size)
      throw bad(`Tensor ${name} ends at byte ${start + to}, the file has ${size}: it is cut off.`);
}

/** Checks that no two tensors share bytes. */
function refuseOverlap(entries: Readonly<Record<string, v.InferOutput<typeof entry>>>): void {
  const placed = Object.entries(entries)
    .map(
      ([
        name,
        {
          data_offsets: [from, to],
        },
      ]) => ({ name, from, to }),
    )
    .filter(({ from, to }) => to > from)
    .sort((a, b) => a.from - b.from);
  for (const [i, { name, from }] of placed.entries()) {
    const before = placed[i - 1];
    if (before && before.to > from)
      throw bad(
        `Tensors ${before.name} and ${name} share bytes: one ends at ${before.to}, the other begins at ${from}.`,
      );
  }
}

/** Where a tensor lies: bytes [from, to) after the header. */
export interface Entry<Type extends StoredType = StorageType> {
  readonly name: string;
  readonly dtype: Type;
  readonly shape: number[];
  readonly from: number;
  readonly to: number;
}

/** The entries of the header's JSON, in its order. Throws `wrong-input` for a type or a size that cannot be read. */
export const readHeader = (bytes: Uint8Array): Entry[] =>
  readEntries(bytes, isStorageType, 'F32, F16 or BF16');

function readEntries<Type extends StoredType>(
  bytes: Uint8Array,
  accepts: (dtype: string) => dtype is Type,
  expected: string,
): Entry<Type>[] {
  const { __metadata__, ...entries } = parseHeader(bytes);
  refuseOverlap(entries);
  return Object.entries(entries).map(
    ([
      name,
      {
        dtype,
        shape,
        data_offsets: [from, to],
      },
    ]) => {
      if (!accepts(dtype))
        throw wrongInput('safetensors.type', `Tensor ${name} has type ${dtype}.`, { expected });
      const elements = shape.reduce((a, b) => a * b, 1);
      if (to - from !== elements * storedBytes[dtype])
        throw bad(`Tensor ${name} [${shape}] of ${dtype} lies in ${to - from} bytes.`);
      return { name, dtype, shape, from, to };
    },
  );
}

/** The tensors of a file as they lie in it, as `writeStored` writes them. Throws as `readSafetensors` does. */
export function readStored(bytes: Uint8Array): Map<string, StoredTensor> {
  const start = headerEnd(bytes, bytes.length);
  const entries = readEntries(bytes.subarray(8, start), isStoredType, 'F32, F16, BF16 or U8');
  refuseCutOff(entries, start, bytes.length);
  return asStored(entries, bytes, start);
}

/** The same of a checkpoint, which has no U8: throws `safetensors.type` for one. */
export function readStoredFloats(bytes: Uint8Array): Map<string, StoredTensor<StorageType>> {
  const start = headerEnd(bytes, bytes.length);
  return asStored(entriesOf(bytes.subarray(8, start), start, bytes.length), bytes, start);
}

const asStored = <Type extends StoredType>(
  entries: readonly Entry<Type>[],
  bytes: Uint8Array,
  start: number,
): Map<string, StoredTensor<Type>> =>
  new Map(
    entries.map(({ name, dtype, shape, from, to }) => [
      name,
      { dtype, shape, bytes: bytes.subarray(start + from, start + to) },
    ]),
  );

function parseHeader(bytes: Uint8Array): v.InferOutput<typeof header> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch (cause) {
    throw wrongInput('safetensors.invalid', 'The header is not JSON.', {
      expected: 'a .safetensors file',
      cause,
    });
  }
  const count = typeof json === 'object' && json !== null ? Object.keys(json).length : 0;
  if (count > MOST_TENSORS) throw bad(`The header names ${count} tensors, more than ${MOST_TENSORS}.`);
  const result = v.safeParse(header, json);
  if (!result.success)
    throw bad(`The header is malformed at ${v.getDotPath(result.issues[0]) ?? 'its root'}.`);
  return result.output;
}

/** Converts float32 values to the bytes that are stored. */
export function encode(data: Float32Array, dtype: StorageType): Uint8Array {
  const stored = dtype === 'F32' ? data : dtype === 'F16' ? toHalf(data) : toBfloat16(data);
  return new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength);
}

/** The beginning of a file whose tensors lie one after another in this order: the header's length and the header. */
export function writeHeader(
  tensors: Iterable<{
    readonly name: string;
    readonly shape: readonly number[];
    readonly dtype: StoredType;
  }>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const entries: Record<string, unknown> = { __metadata__: { format: 'pt', ...metadata } };
  let offset = 0;
  for (const { name, shape, dtype } of tensors) {
    const end = offset + shape.reduce((a, b) => a * b, 1) * storedBytes[dtype];
    entries[name] = { dtype, shape, data_offsets: [offset, end] };
    offset = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(entries));
  // Spaces up to a multiple of 8 keep the tensors aligned, as the format asks.
  const padded = Math.ceil(json.length / 8) * 8;
  const out = new Uint8Array(8 + padded).fill(0x20, 8);
  new DataView(out.buffer).setBigUint64(0, BigInt(padded), true);
  out.set(json, 8);
  return out;
}

/** Writes tensors in the order of the map, so that equal tensors give equal bytes. `metadata` is what the file says of itself besides. */
export const writeSafetensors = (
  tensors: ReadonlyMap<string, { readonly shape: readonly number[]; readonly data: Float32Array }>,
  dtype: StorageType = 'F32',
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array =>
  writeTensors(
    Array.from(tensors, ([name, { shape, data }]) => ({
      name,
      shape,
      dtype,
      size: data.length * bytesOf[dtype],
      bytes: () => encode(data, dtype),
    })),
    metadata,
  );

/** The same of tensors that are bytes already, each of a type of its own. */
export const writeStored = (
  tensors: ReadonlyMap<string, StoredTensor>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array =>
  writeTensors(
    Array.from(tensors, ([name, { shape, dtype, bytes }]) => ({
      name,
      shape,
      dtype,
      size: bytes.length,
      bytes: () => bytes,
    })),
    metadata,
  );

/** One tensor is encoded at a time, so that the file alone is in memory. */
function writeTensors(
  tensors: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly dtype: StoredType;
    readonly size: number;
    readonly bytes: () => Uint8Array;
  }[],
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const header = writeHeader(tensors, metadata);
  const out = new Uint8Array(header.length + tensors.reduce((sum, { size }) => sum + size, 0));
  out.set(header);
  let at = header.length;
  for (const { size, bytes } of tensors) {
    out.set(bytes(), at);
    at += size;
  }
  return out;
}
