/** Writes GGUF, the file format of llama.cpp (version 3): a header, typed metadata, tensor infos, aligned data in float32 or 8-bit blocks. */
import { toHalf } from '../../../model/half.ts';
import type { Tensor } from '../../../model/safetensors.ts';

/** A metadata value with the type that its reader expects; numbers alone would not tell. */
export type GgufValue =
  | { readonly u32: number }
  | { readonly f32: number }
  | { readonly string: string }
  | { readonly i32s: readonly number[] }
  | { readonly strings: readonly string[] };

const MAGIC = 'GGUF';
const VERSION = 3;
/** What a reader assumes where the file does not name another. */
const ALIGNMENT = 32;
/** The format's numbers of the types that occur here. */
const ValueType = { u32: 4, i32: 5, f32: 6, string: 8, array: 9 };
const TensorType = { f32: 0, q8_0: 8 };
/** The numbers of a block of q8_0, and its bytes: one scale as a half, then the numbers. */
const BLOCK = 32;
const BLOCK_BYTES = 2 + BLOCK;

const align = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

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
    const out = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.#parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
}

function writeValue(out: Bytes, value: GgufValue): void {
  if ('u32' in value) {
    out.u32(ValueType.u32);
    out.u32(value.u32);
  } else if ('f32' in value) {
    out.u32(ValueType.f32);
    out.f32(value.f32);
  } else if ('string' in value) {
    out.u32(ValueType.string);
    out.string(value.string);
  } else if ('i32s' in value) {
    out.array(ValueType.i32, value.i32s, (x) => out.i32(x));
  } else {
    out.array(ValueType.string, value.strings, (x) => out.string(x));
  }
}

/** Blocks of 8-bit numbers (q8_0), each with the scale that takes its largest value to 127. The length is a multiple of 32. */
function inBlocks(data: Float32Array): Uint8Array {
  const out = new DataView(new ArrayBuffer((data.length / BLOCK) * BLOCK_BYTES));
  for (let from = 0, to = 0; from < data.length; from += BLOCK, to += BLOCK_BYTES) {
    const block = data.subarray(from, from + BLOCK);
    const scale = Math.fround(block.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127);
    out.setUint16(to, toHalf(Float32Array.of(scale))[0]!, true);
    block.forEach((x, i) => {
      out.setInt8(to + 2 + i, scale ? Math.round(x / scale) : 0);
    });
  }
  return new Uint8Array(out.buffer);
}

/**
 * Metadata and tensors in the order of the maps; with q8_0 matrices are in blocks of 8 bits. Shapes are given slowest dimension first and
 * written fastest first.
 */
export function writeGguf(
  metadata: ReadonlyMap<string, GgufValue>,
  tensors: ReadonlyMap<string, Tensor>,
  matrices: keyof typeof TensorType = 'f32',
): Uint8Array {
  const typeOf = ({ shape }: Tensor) => (shape.length > 1 ? matrices : 'f32');
  const bytesOf = (tensor: Tensor): Uint8Array =>
    typeOf(tensor) === 'q8_0'
      ? inBlocks(tensor.data)
      : new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  const out = new Bytes();
  out.raw(new TextEncoder().encode(MAGIC));
  out.u32(VERSION);
  out.u64(tensors.size);
  out.u64(metadata.size);
  for (const [key, value] of metadata) {
    out.string(key);
    writeValue(out, value);
  }
  let offset = 0;
  const contents: Uint8Array[] = [];
  for (const [name, tensor] of tensors) {
    const { shape } = tensor;
    const content = bytesOf(tensor);
    contents.push(content);
    out.string(name);
    out.u32(shape.length);
    for (const size of shape.toReversed()) out.u64(size);
    out.u32(TensorType[typeOf(tensor)]);
    out.u64(offset);
    offset += align(content.length);
  }
  out.pad();
  for (const content of contents) {
    out.raw(content);
    out.pad();
  }
  return out.joined();
}
