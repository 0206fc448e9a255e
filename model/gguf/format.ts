/** GGUF, the file format of llama.cpp (version 3): a header, typed metadata, tensor infos, and aligned data. */
import { joinBytes } from '../../core/text/join-bytes.ts';

/** A metadata value with the type that its reader expects; numbers alone would not tell. */
export type GgufValue =
  | { readonly u32: number }
  | { readonly f32: number }
  | { readonly flag: boolean }
  | { readonly string: string }
  | { readonly i32s: readonly number[] }
  | { readonly f32s: readonly number[] }
  | { readonly strings: readonly string[] };

const MAGIC = 'GGUF';
const VERSION = 3;
/** What a reader assumes where the file does not name another. */
const ALIGNMENT = 32;
/** The format's numbers of the types that occur here. */
const ValueType = { u32: 4, i32: 5, f32: 6, flag: 7, string: 8, array: 9 };
const TensorType = { F32: 0, F16: 1, Q8_0: 8, BF16: 30 };
export type GgufType = keyof typeof TensorType;

export interface GgufTensor {
  readonly name: string;
  /** Slowest dimension first, as in safetensors; GGUF has them the other way round. */
  readonly shape: readonly number[];
  readonly type: GgufType;
  /** Length of its data. */
  readonly bytes: number;
}

export const align = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** Little-endian bytes, appended. */
class Bytes {
  readonly #parts: Uint8Array[] = [];
  length = 0;

  raw(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.length += bytes.length;
  }

  #number(width: number, set: (view: DataView) => void): void {
    const bytes = new Uint8Array(width);
    set(new DataView(bytes.buffer));
    this.raw(bytes);
  }

  u32 = (x: number) => this.#number(4, (view) => view.setUint32(0, x, true));
  i32 = (x: number) => this.#number(4, (view) => view.setInt32(0, x, true));
  u64 = (x: number) => this.#number(8, (view) => view.setBigUint64(0, BigInt(x), true));
  f32 = (x: number) => this.#number(4, (view) => view.setFloat32(0, x, true));

  string(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.u64(bytes.length);
    this.raw(bytes);
  }

  array<T>(type: number, values: readonly T[], write: (value: T) => void): void {
    this.u32(ValueType.array);
    this.u32(type);
    this.u64(values.length);
    for (const value of values) write(value);
  }

  pad(): void {
    this.raw(new Uint8Array(align(this.length) - this.length));
  }

  joined(): Uint8Array {
    return joinBytes(this.#parts);
  }
}

function writeValue(out: Bytes, value: GgufValue): void {
  if ('u32' in value) {
    out.u32(ValueType.u32);
    out.u32(value.u32);
  } else if ('f32' in value) {
    out.u32(ValueType.f32);
    out.f32(value.f32);
  } else if ('flag' in value) {
    out.u32(ValueType.flag);
    out.raw(Uint8Array.of(Number(value.flag)));
  } else if ('string' in value) {
    out.u32(ValueType.string);
    out.string(value.string);
  } else if ('f32s' in value) {
    out.array(ValueType.f32, value.f32s, (x) => out.f32(x));
  } else if ('i32s' in value) {
    out.array(ValueType.i32, value.i32s, (x) => out.i32(x));
  } else {
    out.array(ValueType.string, value.strings, (x) => out.string(x));
  }
}

/** All before the tensors' data, which follow in this order, each padded with zeros to a multiple of the alignment (`align`). */
export function ggufHeader(
  metadata: ReadonlyMap<string, GgufValue>,
  tensors: readonly GgufTensor[],
): Uint8Array<ArrayBufferLike> {
  const out = new Bytes();
  out.raw(new TextEncoder().encode(MAGIC));
  out.u32(VERSION);
  out.u64(tensors.length);
  out.u64(metadata.size);
  for (const [key, value] of metadata) {
    out.string(key);
    writeValue(out, value);
  }
  let offset = 0;
  for (const { name, shape, type, bytes } of tensors) {
    out.string(name);
    out.u32(shape.length);
    for (const size of shape.toReversed()) out.u64(size);
    out.u32(TensorType[type]);
    out.u64(offset);
    offset += align(bytes);
  }
  out.pad();
  return out.joined();
}
