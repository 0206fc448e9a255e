/** Computes the steps of a decoder's layer between its matrix products: norms, biases, rotation, the gated unit. */
import { geGlu, swiGlu } from '../shared/elementwise';
import { rmsNorm as normRows } from '../shared/rows';
import { bytes } from '../shared/vector';

/** y [rows, d] = x / rms(x) * gain. `inverse`: room for `rows` floats. d is a multiple of 4. */
export function rmsNorm(rows: i32, d: i32, x: usize, gain: usize, y: usize, inverse: usize, eps: f32): void {
  normRows(rows, d, x, gain, y, inverse, eps, 0, 1);
}

/** Normalises, in place, each of `heads` heads of rows that are `ld` values apart. `inverse`: room for `heads` floats. */
export function normHeads(
  rows: i32,
  ld: i32,
  heads: i32,
  headDim: i32,
  x: usize,
  gain: usize,
  inverse: usize,
  eps: f32,
): void {
  for (let r = 0; r < rows; r++, x += bytes(ld)) normRows(heads, headDim, x, gain, x, inverse, eps, 0, 1);
}

/** c [rows, n] = bias [n] in each row, so that a product can then be added to it. The rows of c are `ld` values apart. */
export function fillRows(rows: i32, n: i32, bias: usize, c: usize, ld: i32): void {
  for (let r = 0; r < rows; r++, c += bytes(ld)) memory.copy(c, bias, bytes(n));
}

/** y [rows, f] = silu(gate) * up. Gate and up are in rows of `ld` values, up from value `upAt` on. f is a multiple of 4. */
export function gate(rows: i32, f: i32, x: usize, ld: i32, upAt: i32, y: usize): void {
  for (let r = 0; r < rows; r++, x += bytes(ld), y += bytes(f)) swiGlu(f, x, x + bytes(upAt), y, 0, 1);
}

/** As `gate`, with GELU in place of SiLU. */
export function gateGelu(rows: i32, f: i32, x: usize, ld: i32, upAt: i32, y: usize): void {
  for (let r = 0; r < rows; r++, x += bytes(ld), y += bytes(f)) geGlu(f, x, x + bytes(upAt), y, 0, 1);
}

/** Rotates a head in place; the first half of its values is paired with the second. table: cosines, then sines [headDim / 2] each. */
function rotateHead(x: usize, headDim: i32, table: usize): void {
  const half = bytes(headDim >> 1);
  for (let j: usize = 0; j < half; j += 16) {
    const a = v128.load(x + j);
    const b = v128.load(x + half + j);
    const cosine = v128.load(table + j);
    const sine = v128.load(table + half + j);
    v128.store(x + j, f32x4.sub(f32x4.mul(a, cosine), f32x4.mul(b, sine)));
    v128.store(x + half + j, f32x4.add(f32x4.mul(b, cosine), f32x4.mul(a, sine)));
  }
}

/** Rotates, in place, `heads` heads of rows `ld` values apart by `positions` i32 [rows]; table [positions, headDim]. headDim % 8 = 0. */
export function rotate(
  rows: i32,
  ld: i32,
  heads: i32,
  headDim: i32,
  x: usize,
  positions: usize,
  table: usize,
): void {
  for (let r = 0; r < rows; r++, x += bytes(ld)) {
    const own = table + bytes(load<i32>(positions + bytes(r)) * headDim);
    for (let h = 0; h < heads; h++) rotateHead(x + bytes(h * headDim), headDim, own);
  }
}
