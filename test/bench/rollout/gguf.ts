/** A GGUF file in memory, in float32 or with matrices in 8-bit blocks. */
import { align, type GgufValue, ggufHeader } from '../../../model/gguf/format.ts';
import { toHalf } from '../../../model/half.ts';
import type { Tensor } from '../../../model/safetensors.ts';

/** The numbers of a block of q8_0, and its bytes: one scale as a half, then the numbers. */
const BLOCK = 32;
const BLOCK_BYTES = 2 + BLOCK;

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

/** Metadata and tensors in the order of the maps; with q8_0 matrices are in blocks of 8 bits. */
export function writeGguf(
  metadata: ReadonlyMap<string, GgufValue>,
  tensors: ReadonlyMap<string, Tensor>,
  matrices: 'F32' | 'Q8_0' = 'F32',
): Uint8Array {
  const contents = [...tensors].map(([name, { shape, data }]) => {
    const type = shape.length > 1 ? matrices : 'F32';
    const content =
      type === 'Q8_0' ? inBlocks(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return { name, shape, type, bytes: content.length, content };
  });
  const header = ggufHeader(metadata, contents);
  const out = new Uint8Array(contents.reduce((sum, { bytes }) => sum + align(bytes), header.length));
  out.set(header);
  let at = header.length;
  for (const { content, bytes } of contents) {
    out.set(content, at);
    at += align(bytes);
  }
  return out;
}
