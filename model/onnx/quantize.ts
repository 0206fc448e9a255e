/**
 * Quantizes matrices to small integers with a scale for each block of 32 neighbours in a row, in the layout of ONNX Runtime's
 * MatMulNBits. Only weights are quantized; activations stay float32, so a row's result does not depend on other rows.
 */

export const BLOCK = 32;

export type Bits = 4 | 8;

export interface Blocks {
  /** [rows, blocks, BLOCK * bits / 8]; of two 4-bit numbers in a byte the first is the low one. */
  readonly numbers: Uint8Array;
  /** [rows * blocks] */
  readonly scales: Float32Array;
}

/** Number of bytes that a matrix's quantized numbers take. */
export const numbersLength = (rows: number, columns: number, bits: Bits): number =>
  (rows * Math.ceil(columns / BLOCK) * BLOCK * bits) / 8;

/**
 * Numbers are offset by the middle of their range. The scale puts the largest value of a block on the range's lower end,
 * which has one step more than the upper (as llama.cpp's Q4_0 does), so that it is exact.
 */
function scaleOf(block: Float32Array, bits: Bits): number {
  let largest = 0;
  for (const x of block) if (Math.abs(x) > Math.abs(largest)) largest = x;
  return -largest / 2 ** (bits - 1);
}

/** Quantizes a matrix [rows, columns]; a row's last block may be filled up with zeros. */
export function quantize(data: Float32Array, rows: number, columns: number, bits: Bits): Blocks {
  const blocks = Math.ceil(columns / BLOCK);
  const numbers = new Uint8Array(numbersLength(rows, columns, bits));
  const scales = new Float32Array(rows * blocks);
  const middle = 2 ** (bits - 1);
  for (let row = 0; row < rows; row++)
    for (let b = 0; b < blocks; b++) {
      const at = row * blocks + b;
      const from = row * columns + b * BLOCK;
      const block = data.subarray(from, Math.min(from + BLOCK, (row + 1) * columns));
      const scale = scaleOf(block, bits);
      scales[at] = scale;
      for (let i = 0; i < BLOCK; i++) {
        const steps = scale === 0 || i >= block.length ? 0 : Math.round(block[i]! / scale);
        const number = Math.min(Math.max(steps + middle, 0), 2 * middle - 1);
        if (bits === 8) numbers[at * BLOCK + i] = number;
        else numbers[(at * BLOCK + i) >> 1]! |= i % 2 ? number << 4 : number;
      }
    }
  return { numbers, scales };
}

/** Converts the numbers back to the float matrix [rows, columns] that they stand for. */
export function dequantize(
  { numbers, scales }: Blocks,
  rows: number,
  columns: number,
  bits: Bits,
): Float32Array {
  const blocks = Math.ceil(columns / BLOCK);
  const middle = 2 ** (bits - 1);
  return Float32Array.from({ length: rows * columns }, (_, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    const at = row * blocks + Math.floor(column / BLOCK);
    const i = at * BLOCK + (column % BLOCK);
    const number = bits === 8 ? numbers[i]! : (numbers[i >> 1]! >> (i % 2 ? 4 : 0)) & 15;
    return (number - middle) * scales[at]!;
  });
}
