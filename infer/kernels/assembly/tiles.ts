/**
 * Register tiles: the inner loops of a product C (+)= A B, for three kinds of operands, which differ only in one step and in how a
 * result is stored.
 *   f32  Each value of C is one chain of multiply-adds over k in order, whatever the tile: the bits of a row depend on no other row.
 *   i8   A holds 7 bits and B 8 bits, four neighbours in k to a word; C is their exact integer product, scaled.
 *   i16  As i8, but A holds 13 bits in two planes: each row of C takes two neighbouring rows of A, the high plane and the low one.
 * A is in panels [steps][rows] of words, B in panels [steps][8] of words. `c`, `row` and `column` are byte offsets of the tile's first
 * value in C, of its row and of its column; `ldc` is the length of C's rows in bytes. Tiles for few rows keep eight chains or more under
 * way at once, which hides the latency of a multiply-add: in float32 they are wider; in integers, whose sums are exact in any order, they sum
 * neighbouring steps apart, and read B from one place after the other, which is faster where B comes from memory.
 */
import { bytes, madd } from '../../../learner/kernels/vector';

/** The addresses of corrections and scales of the current integer product: i32 [columns], f32 [columns] and f32 [rows of C]. */
let corrections: usize = 0;
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

function step<T>(left: v128, right: v128, sum: v128): v128 {
  if (isFloat<T>()) return madd(left, right, sum);
  return dot(right, left, sum);
}

/** The initial sums of four lanes of a row of A. A low plane has nothing to correct. */
function begin<T>(c: usize, column: usize, row: i32, add: bool): v128 {
  if (isFloat<T>()) return add ? v128.load(c) : f32x4.splat(0);
  if (planes<T>() == 2 && (row & 1) == 1) return i32x4.splat(0);
  return v128.load(corrections + column);
}

function storeScaled(c: usize, value: v128, scale: v128, add: bool): void {
  const y = f32x4.mul(value, scale);
  v128.store(c, add ? f32x4.add(v128.load(c), y) : y);
}

function endRow<T>(c: usize, row: usize, column: usize, x0: v128, x1: v128, add: bool): void {
  if (isFloat<T>()) {
    v128.store(c, x0);
    v128.store(c, x1, 16);
    return;
  }
  const scale = v128.load_splat<f32>(rowScales + row);
  const s0 = f32x4.mul(v128.load(columnScales + column), scale);
  const s1 = f32x4.mul(v128.load(columnScales + column, 16), scale);
  storeScaled(c, f32x4.convert_i32x4_s(x0), s0, add);
  storeScaled(c + 16, f32x4.convert_i32x4_s(x1), s1, add);
}

/** Joins the high and the low plane in float32: 64 * high + low. */
function joinPlanes(high: v128, low: v128): v128 {
  return f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(high), f32x4.splat(64)), f32x4.convert_i32x4_s(low));
}

/** Stores the product of two rows of A: two rows of C, or one if the rows of A are planes. */
function endPair<T>(
  c: usize,
  ldc: usize,
  row: usize,
  column: usize,
  x00: v128,
  x01: v128,
  x10: v128,
  x11: v128,
  add: bool,
): void {
  if (planes<T>() == 2) {
    const scale = v128.load_splat<f32>(rowScales + row);
    const s0 = f32x4.mul(v128.load(columnScales + column), scale);
    const s1 = f32x4.mul(v128.load(columnScales + column, 16), scale);
    storeScaled(c, joinPlanes(x00, x10), s0, add);
    storeScaled(c + 16, joinPlanes(x01, x11), s1, add);
  } else {
    endRow<T>(c, row, column, x00, x01, add);
    endRow<T>(c + ldc, row + 4, column, x10, x11, add);
  }
}

/** Computes six rows of A by 8 columns, which takes 15 of 16 vector registers. */
export function tile6<T>(
  steps: i32,
  a: usize,
  b: usize,
  c: usize,
  ldc: usize,
  row: usize,
  column: usize,
  add: bool,
): void {
  const rows = 6 / planes<T>();
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  const c4 = c3 + ldc;
  const c5 = c4 + ldc;
  const right = column + 16;
  let x00 = begin<T>(c, column, 0, add);
  let x01 = begin<T>(c + 16, right, 0, add);
  let x10 = begin<T>(c1, column, 1, add);
  let x11 = begin<T>(c1 + 16, right, 1, add);
  let x20 = begin<T>(c2, column, 2, add);
  let x21 = begin<T>(c2 + 16, right, 2, add);
  let x30 = begin<T>(c3, column, 3, add);
  let x31 = begin<T>(c3 + 16, right, 3, add);
  let x40 = begin<T>(c4, column, 4, add);
  let x41 = begin<T>(c4 + 16, right, 4, add);
  let x50 = begin<T>(c5, column, 5, add);
  let x51 = begin<T>(c5 + 16, right, 5, add);
  for (const end = a + bytes(steps) * 6; a < end; a += 24, b += 32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const s0 = v128.load_splat<i32>(a);
    x00 = step<T>(s0, b0, x00);
    x01 = step<T>(s0, b1, x01);
    const s1 = v128.load_splat<i32>(a, 4);
    x10 = step<T>(s1, b0, x10);
    x11 = step<T>(s1, b1, x11);
    const s2 = v128.load_splat<i32>(a, 8);
    x20 = step<T>(s2, b0, x20);
    x21 = step<T>(s2, b1, x21);
    const s3 = v128.load_splat<i32>(a, 12);
    x30 = step<T>(s3, b0, x30);
    x31 = step<T>(s3, b1, x31);
    const s4 = v128.load_splat<i32>(a, 16);
    x40 = step<T>(s4, b0, x40);
    x41 = step<T>(s4, b1, x41);
    const s5 = v128.load_splat<i32>(a, 20);
    x50 = step<T>(s5, b0, x50);
    x51 = step<T>(s5, b1, x51);
  }
  const pair = bytes(rows / 3);
  endPair<T>(c, ldc, row, column, x00, x01, x10, x11, add);
  c += (pair >> 2) * ldc;
  endPair<T>(c, ldc, row + pair, column, x20, x21, x30, x31, add);
  c += (pair >> 2) * ldc;
  endPair<T>(c, ldc, row + 2 * pair, column, x40, x41, x50, x51, add);
}

/** Computes four rows of A by 8 columns. */
export function tile4<T>(
  steps: i32,
  a: usize,
  b: usize,
  c: usize,
  ldc: usize,
  row: usize,
  column: usize,
  add: bool,
): void {
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  const right = column + 16;
  let x00 = begin<T>(c, column, 0, add);
  let x01 = begin<T>(c + 16, right, 0, add);
  let x10 = begin<T>(c1, column, 1, add);
  let x11 = begin<T>(c1 + 16, right, 1, add);
  let x20 = begin<T>(c2, column, 2, add);
  let x21 = begin<T>(c2 + 16, right, 2, add);
  let x30 = begin<T>(c3, column, 3, add);
  let x31 = begin<T>(c3 + 16, right, 3, add);
  for (const end = a + bytes(steps) * 4; a < end; a += 16, b += 32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const s0 = v128.load_splat<i32>(a);
    x00 = step<T>(s0, b0, x00);
    x01 = step<T>(s0, b1, x01);
    const s1 = v128.load_splat<i32>(a, 4);
    x10 = step<T>(s1, b0, x10);
    x11 = step<T>(s1, b1, x11);
    const s2 = v128.load_splat<i32>(a, 8);
    x20 = step<T>(s2, b0, x20);
    x21 = step<T>(s2, b1, x21);
    const s3 = v128.load_splat<i32>(a, 12);
    x30 = step<T>(s3, b0, x30);
    x31 = step<T>(s3, b1, x31);
  }
  const pair = bytes(2 / planes<T>());
  endPair<T>(c, ldc, row, column, x00, x01, x10, x11, add);
  endPair<T>(c + (pair >> 2) * ldc, ldc, row + pair, column, x20, x21, x30, x31, add);
}

/** Computes two rows of A by 16 columns, which are two panels of B, `panel` bytes apart. */
export function tile2x16<T>(
  steps: i32,
  a: usize,
  b: usize,
  panel: usize,
  c: usize,
  ldc: usize,
  row: usize,
  column: usize,
  add: bool,
): void {
  const c1 = c + ldc;
  let x00 = begin<T>(c, column, 0, add);
  let x01 = begin<T>(c + 16, column + 16, 0, add);
  let x02 = begin<T>(c + 32, column + 32, 0, add);
  let x03 = begin<T>(c + 48, column + 48, 0, add);
  let x10 = begin<T>(c1, column, 1, add);
  let x11 = begin<T>(c1 + 16, column + 16, 1, add);
  let x12 = begin<T>(c1 + 32, column + 32, 1, add);
  let x13 = begin<T>(c1 + 48, column + 48, 1, add);
  let other = b + panel;
  for (const end = a + bytes(steps) * 2; a < end; a += 8, b += 32, other += 32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(other);
    const b3 = v128.load(other, 16);
    const s0 = v128.load_splat<i32>(a);
    x00 = step<T>(s0, b0, x00);
    x01 = step<T>(s0, b1, x01);
    x02 = step<T>(s0, b2, x02);
    x03 = step<T>(s0, b3, x03);
    const s1 = v128.load_splat<i32>(a, 4);
    x10 = step<T>(s1, b0, x10);
    x11 = step<T>(s1, b1, x11);
    x12 = step<T>(s1, b2, x12);
    x13 = step<T>(s1, b3, x13);
  }
  endPair<T>(c, ldc, row, column, x00, x01, x10, x11, add);
  endPair<T>(c + 32, ldc, row, column + 32, x02, x03, x12, x13, add);
}

/** Computes two rows of A by 8 columns, for columns that `tile2x16` leaves over. */
export function tile2<T>(
  steps: i32,
  a: usize,
  b: usize,
  c: usize,
  ldc: usize,
  row: usize,
  column: usize,
  add: bool,
): void {
  let x00 = begin<T>(c, column, 0, add);
  let x01 = begin<T>(c + 16, column + 16, 0, add);
  let x10 = begin<T>(c + ldc, column, 1, add);
  let x11 = begin<T>(c + ldc + 16, column + 16, 1, add);
  for (const end = a + bytes(steps) * 2; a < end; a += 8, b += 32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const s0 = v128.load_splat<i32>(a);
    x00 = step<T>(s0, b0, x00);
    x01 = step<T>(s0, b1, x01);
    const s1 = v128.load_splat<i32>(a, 4);
    x10 = step<T>(s1, b0, x10);
    x11 = step<T>(s1, b1, x11);
  }
  endPair<T>(c, ldc, row, column, x00, x01, x10, x11, add);
}

/** Computes one row of A, which is no plane, by 32 columns: four panels of B, `panel` bytes apart. */
export function tile1x32<T>(
  steps: i32,
  a: usize,
  b: usize,
  panel: usize,
  c: usize,
  row: usize,
  column: usize,
  add: bool,
): void {
  let x0 = begin<T>(c, column, 0, add);
  let x1 = begin<T>(c + 16, column + 16, 0, add);
  let x2 = begin<T>(c + 32, column + 32, 0, add);
  let x3 = begin<T>(c + 48, column + 48, 0, add);
  let x4 = begin<T>(c + 64, column + 64, 0, add);
  let x5 = begin<T>(c + 80, column + 80, 0, add);
  let x6 = begin<T>(c + 96, column + 96, 0, add);
  let x7 = begin<T>(c + 112, column + 112, 0, add);
  let p1 = b + panel;
  let p2 = p1 + panel;
  let p3 = p2 + panel;
  for (const end = a + bytes(steps); a < end; a += 4, b += 32, p1 += 32, p2 += 32, p3 += 32) {
    const s = v128.load_splat<i32>(a);
    x0 = step<T>(s, v128.load(b), x0);
    x1 = step<T>(s, v128.load(b, 16), x1);
    x2 = step<T>(s, v128.load(p1), x2);
    x3 = step<T>(s, v128.load(p1, 16), x3);
    x4 = step<T>(s, v128.load(p2), x4);
    x5 = step<T>(s, v128.load(p2, 16), x5);
    x6 = step<T>(s, v128.load(p3), x6);
    x7 = step<T>(s, v128.load(p3, 16), x7);
  }
  endRow<T>(c, row, column, x0, x1, add);
  endRow<T>(c + 32, row, column + 32, x2, x3, add);
  endRow<T>(c + 64, row, column + 64, x4, x5, add);
  endRow<T>(c + 96, row, column + 96, x6, x7, add);
}

/** Computes one row of A by 8 columns, for columns that `tile1x32` leaves over. */
export function tile1<T>(
  steps: i32,
  a: usize,
  b: usize,
  c: usize,
  row: usize,
  column: usize,
  add: bool,
): void {
  let x0 = begin<T>(c, column, 0, add);
  let x1 = begin<T>(c + 16, column + 16, 0, add);
  for (const end = a + bytes(steps); a < end; a += 4, b += 32) {
    const s = v128.load_splat<i32>(a);
    x0 = step<T>(s, v128.load(b), x0);
    x1 = step<T>(s, v128.load(b, 16), x1);
  }
  endRow<T>(c, row, column, x0, x1, add);
}

/** Computes two rows of A by 8 columns in integers; even and odd steps are summed apart. `steps` is a multiple of 4. */
export function tile2Deep<T>(
  steps: i32,
  a: usize,
  b: usize,
  c: usize,
  ldc: usize,
  row: usize,
  column: usize,
  add: bool,
): void {
  const none = i32x4.splat(0);
  let x00 = begin<T>(c, column, 0, add);
  let x01 = begin<T>(c + 16, column + 16, 0, add);
  let x10 = begin<T>(c + ldc, column, 1, add);
  let x11 = begin<T>(c + ldc + 16, column + 16, 1, add);
  let y00 = none;
  let y01 = none;
  let y10 = none;
  let y11 = none;
  for (const end = a + bytes(steps) * 2; a < end; a += 16, b += 64) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const s0 = v128.load_splat<i32>(a);
    x00 = step<T>(s0, b0, x00);
    x01 = step<T>(s0, b1, x01);
    const s1 = v128.load_splat<i32>(a, 4);
    x10 = step<T>(s1, b0, x10);
    x11 = step<T>(s1, b1, x11);
    const b2 = v128.load(b, 32);
    const b3 = v128.load(b, 48);
    const s2 = v128.load_splat<i32>(a, 8);
    y00 = step<T>(s2, b2, y00);
    y01 = step<T>(s2, b3, y01);
    const s3 = v128.load_splat<i32>(a, 12);
    y10 = step<T>(s3, b2, y10);
    y11 = step<T>(s3, b3, y11);
  }
  x00 = i32x4.add(x00, y00);
  x01 = i32x4.add(x01, y01);
  x10 = i32x4.add(x10, y10);
  x11 = i32x4.add(x11, y11);
  endPair<T>(c, ldc, row, column, x00, x01, x10, x11, add);
}

/** Computes one row of A, which is no plane, by 8 columns in integers; each of four steps is summed apart. `steps` is a multiple of 4. */
export function tile1Deep<T>(
  steps: i32,
  a: usize,
  b: usize,
  c: usize,
  row: usize,
  column: usize,
  add: bool,
): void {
  const none = i32x4.splat(0);
  let x0 = begin<T>(c, column, 0, add);
  let x1 = begin<T>(c + 16, column + 16, 0, add);
  let y0 = none;
  let y1 = none;
  let z0 = none;
  let z1 = none;
  let w0 = none;
  let w1 = none;
  for (const end = a + bytes(steps); a < end; a += 16, b += 128) {
    const s0 = v128.load_splat<i32>(a);
    x0 = step<T>(s0, v128.load(b), x0);
    x1 = step<T>(s0, v128.load(b, 16), x1);
    const s1 = v128.load_splat<i32>(a, 4);
    y0 = step<T>(s1, v128.load(b, 32), y0);
    y1 = step<T>(s1, v128.load(b, 48), y1);
    const s2 = v128.load_splat<i32>(a, 8);
    z0 = step<T>(s2, v128.load(b, 64), z0);
    z1 = step<T>(s2, v128.load(b, 80), z1);
    const s3 = v128.load_splat<i32>(a, 12);
    w0 = step<T>(s3, v128.load(b, 96), w0);
    w1 = step<T>(s3, v128.load(b, 112), w1);
  }
  x0 = i32x4.add(i32x4.add(x0, y0), i32x4.add(z0, w0));
  x1 = i32x4.add(i32x4.add(x1, y1), i32x4.add(z1, w1));
  endRow<T>(c, row, column, x0, x1, add);
}
