/**
 * What the register tiles of a product C (+)= A B (`kernels/tiles.ts`) do with three kinds of operands, which differ only in one step and in how a result is stored.
 *   f32  Each value of C is one chain of multiply-adds over k in order, whatever the tile: the bits of a row depend on no other row.
 *   i8   A holds 7 bits and B 8 bits, four neighbours in k to a word; C is their exact integer product, scaled.
 *   i16  As i8, but A holds 13 bits in two planes: each row of C takes two neighbouring rows of A, the high plane and the low one.
 * A is in panels [steps][rows] of words, B in panels [steps][8] of words. `c`, `row` and `column` are byte offsets of the tile's first value in C, of its row and of its column.
 */
import { madd } from '../shared/vector';

/** The addresses of corrections and scales of the current integer product: i32 [columns], f32 [columns] and f32 [rows of C]. */
export let corrections: usize = 0;
let columnScales: usize = 0;
let rowScales: usize = 0;

/** Sets these addresses. `corrections` hold -64 times the sum of a column's weights, since activations are stored with 64 added. */
export function setScales(correctionsAt: usize, columnScalesAt: usize, rowScalesAt: usize): void {
  corrections = correctionsAt;
  columnScales = columnScalesAt;
  rowScales = rowScalesAt;
}

/** The number of rows of A that make one row of C. */
export function planes<T>(): i32 {
  return isInteger<T>() && sizeof<T>() == 2 ? 2 : 1;
}

/** Adds 16 products of 8-bit weights and 7-bit activations, four neighbours to a lane. Both branches give the same integers. */
export function dot(weights: v128, activations: v128, sum: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i32x4.relaxed_dot_i8x16_i7x16_add_s(weights, activations, sum);
  const low = i32x4.extadd_pairwise_i16x8_s(i16x8.extmul_low_i8x16_s(weights, activations));
  const high = i32x4.extadd_pairwise_i16x8_s(i16x8.extmul_high_i8x16_s(weights, activations));
  const even = v128.shuffle<i32>(low, high, 0, 2, 4, 6);
  return i32x4.add(sum, i32x4.add(even, v128.shuffle<i32>(low, high, 1, 3, 5, 7)));
}

export function step<T>(left: v128, right: v128, sum: v128): v128 {
  if (isFloat<T>()) return madd(left, right, sum);
  return dot(right, left, sum);
}

/** The sums that the odd rows of A begin with, given those of the even ones: a low plane has nothing to correct. */
export function odd<T>(even: v128): v128 {
  return planes<T>() == 2 ? i32x4.splat(0) : even;
}

/** Stores 8 values of a row of C. */
function store(c: usize, y0: v128, y1: v128, add: bool): void {
  if (add) {
    v128.store(c, f32x4.add(v128.load(c), y0));
    v128.store(c, f32x4.add(v128.load(c, 16), y1), 16);
  } else {
    v128.store(c, y0);
    v128.store(c, y1, 16);
  }
}

export function endRow<T>(c: usize, row: usize, column: usize, x0: v128, x1: v128, add: bool): void {
  if (isFloat<T>()) {
    v128.store(c, x0);
    v128.store(c, x1, 16);
    return;
  }
  const scale = v128.load_splat<f32>(rowScales + row);
  const scales = columnScales + column;
  const y0 = f32x4.mul(f32x4.convert_i32x4_s(x0), f32x4.mul(v128.load(scales), scale));
  const y1 = f32x4.mul(f32x4.convert_i32x4_s(x1), f32x4.mul(v128.load(scales, 16), scale));
  store(c, y0, y1, add);
}

/** Joins the high and the low plane in float32: 64 * high + low. */
function joinPlanes(high: v128, low: v128): v128 {
  return f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(high), f32x4.splat(64)), f32x4.convert_i32x4_s(low));
}

/** Stores the product of two rows of A that are planes: one row of C. */
export function endPlanes(
  c: usize,
  row: usize,
  column: usize,
  x00: v128,
  x01: v128,
  x10: v128,
  x11: v128,
  add: bool,
): void {
  const scale = v128.load_splat<f32>(rowScales + row);
  const scales = columnScales + column;
  const y0 = f32x4.mul(joinPlanes(x00, x10), f32x4.mul(v128.load(scales), scale));
  const y1 = f32x4.mul(joinPlanes(x01, x11), f32x4.mul(v128.load(scales, 16), scale));
  store(c, y0, y1, add);
}
