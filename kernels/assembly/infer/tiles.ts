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
 * Two neighbouring vectors of a row can run as one of 256 bits (`node-revectorizer.ts`), but V8 takes only this form: both are loaded and stored one after
 * the other, at immediate offsets of one address; one branch in place of a choice for each value; and no call that takes vectors, so what ends a
 * tile is in functions that are small enough to be inlined.
 */
import { bytes, madd } from '../shared/vector';

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

/** The sums that the odd rows of A begin with, given those of the even ones: a low plane has nothing to correct. */
function odd<T>(even: v128): v128 {
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

function endRow<T>(c: usize, row: usize, column: usize, x0: v128, x1: v128, add: bool): void {
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
function endPlanes(
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
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  const c4 = c3 + ldc;
  const c5 = c4 + ldc;
  const first = corrections + column;
  let x00 = isFloat<T>() ? f32x4.splat(0) : v128.load(first);
  let x01 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 16);
  let x10 = odd<T>(x00);
  let x11 = odd<T>(x01);
  let x20 = x00;
  let x21 = x01;
  let x30 = odd<T>(x00);
  let x31 = odd<T>(x01);
  let x40 = x00;
  let x41 = x01;
  let x50 = odd<T>(x00);
  let x51 = odd<T>(x01);
  if (isFloat<T>() && add) {
    x00 = v128.load(c);
    x01 = v128.load(c, 16);
    x10 = v128.load(c1);
    x11 = v128.load(c1, 16);
    x20 = v128.load(c2);
    x21 = v128.load(c2, 16);
    x30 = v128.load(c3);
    x31 = v128.load(c3, 16);
    x40 = v128.load(c4);
    x41 = v128.load(c4, 16);
    x50 = v128.load(c5);
    x51 = v128.load(c5, 16);
  }
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
  if (planes<T>() == 2) {
    endPlanes(c, row, column, x00, x01, x10, x11, add);
    endPlanes(c1, row + 4, column, x20, x21, x30, x31, add);
    endPlanes(c2, row + 8, column, x40, x41, x50, x51, add);
  } else {
    endRow<T>(c, row, column, x00, x01, add);
    endRow<T>(c1, row + 4, column, x10, x11, add);
    endRow<T>(c2, row + 8, column, x20, x21, add);
    endRow<T>(c3, row + 12, column, x30, x31, add);
    endRow<T>(c4, row + 16, column, x40, x41, add);
    endRow<T>(c5, row + 20, column, x50, x51, add);
  }
}

/**
 * Computes four rows of A by 16 columns in float32: two panels of B, `panel` bytes apart. It is the fastest tile where pairs of 128-bit operations
 * run as one, since its eight pairs are as many chains.
 */
export function tile4x16(
  steps: i32,
  a: usize,
  b: usize,
  panel: usize,
  c: usize,
  ldc: usize,
  add: bool,
): void {
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  const zero = f32x4.splat(0);
  let x00 = zero;
  let x01 = zero;
  let x02 = zero;
  let x03 = zero;
  let x10 = zero;
  let x11 = zero;
  let x12 = zero;
  let x13 = zero;
  let x20 = zero;
  let x21 = zero;
  let x22 = zero;
  let x23 = zero;
  let x30 = zero;
  let x31 = zero;
  let x32 = zero;
  let x33 = zero;
  if (add) {
    x00 = v128.load(c);
    x01 = v128.load(c, 16);
    x02 = v128.load(c, 32);
    x03 = v128.load(c, 48);
    x10 = v128.load(c1);
    x11 = v128.load(c1, 16);
    x12 = v128.load(c1, 32);
    x13 = v128.load(c1, 48);
    x20 = v128.load(c2);
    x21 = v128.load(c2, 16);
    x22 = v128.load(c2, 32);
    x23 = v128.load(c2, 48);
    x30 = v128.load(c3);
    x31 = v128.load(c3, 16);
    x32 = v128.load(c3, 32);
    x33 = v128.load(c3, 48);
  }
  let other = b + panel;
  for (const end = a + bytes(steps) * 4; a < end; a += 16, b += 32, other += 32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(other);
    const b3 = v128.load(other, 16);
    const s0 = v128.load_splat<i32>(a);
    x00 = madd(s0, b0, x00);
    x01 = madd(s0, b1, x01);
    x02 = madd(s0, b2, x02);
    x03 = madd(s0, b3, x03);
    const s1 = v128.load_splat<i32>(a, 4);
    x10 = madd(s1, b0, x10);
    x11 = madd(s1, b1, x11);
    x12 = madd(s1, b2, x12);
    x13 = madd(s1, b3, x13);
    const s2 = v128.load_splat<i32>(a, 8);
    x20 = madd(s2, b0, x20);
    x21 = madd(s2, b1, x21);
    x22 = madd(s2, b2, x22);
    x23 = madd(s2, b3, x23);
    const s3 = v128.load_splat<i32>(a, 12);
    x30 = madd(s3, b0, x30);
    x31 = madd(s3, b1, x31);
    x32 = madd(s3, b2, x32);
    x33 = madd(s3, b3, x33);
  }
  v128.store(c, x00);
  v128.store(c, x01, 16);
  v128.store(c, x02, 32);
  v128.store(c, x03, 48);
  v128.store(c1, x10);
  v128.store(c1, x11, 16);
  v128.store(c1, x12, 32);
  v128.store(c1, x13, 48);
  v128.store(c2, x20);
  v128.store(c2, x21, 16);
  v128.store(c2, x22, 32);
  v128.store(c2, x23, 48);
  v128.store(c3, x30);
  v128.store(c3, x31, 16);
  v128.store(c3, x32, 32);
  v128.store(c3, x33, 48);
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
  const first = corrections + column;
  let x00 = isFloat<T>() ? f32x4.splat(0) : v128.load(first);
  let x01 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 16);
  let x10 = odd<T>(x00);
  let x11 = odd<T>(x01);
  let x20 = x00;
  let x21 = x01;
  let x30 = odd<T>(x00);
  let x31 = odd<T>(x01);
  if (isFloat<T>() && add) {
    x00 = v128.load(c);
    x01 = v128.load(c, 16);
    x10 = v128.load(c1);
    x11 = v128.load(c1, 16);
    x20 = v128.load(c2);
    x21 = v128.load(c2, 16);
    x30 = v128.load(c3);
    x31 = v128.load(c3, 16);
  }
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
  if (planes<T>() == 2) {
    endPlanes(c, row, column, x00, x01, x10, x11, add);
    endPlanes(c1, row + 4, column, x20, x21, x30, x31, add);
  } else {
    endRow<T>(c, row, column, x00, x01, add);
    endRow<T>(c1, row + 4, column, x10, x11, add);
    endRow<T>(c2, row + 8, column, x20, x21, add);
    endRow<T>(c3, row + 12, column, x30, x31, add);
  }
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
  const first = corrections + column;
  let x00 = isFloat<T>() ? f32x4.splat(0) : v128.load(first);
  let x01 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 16);
  let x02 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 32);
  let x03 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 48);
  let x10 = odd<T>(x00);
  let x11 = odd<T>(x01);
  let x12 = odd<T>(x02);
  let x13 = odd<T>(x03);
  if (isFloat<T>() && add) {
    x00 = v128.load(c);
    x01 = v128.load(c, 16);
    x02 = v128.load(c, 32);
    x03 = v128.load(c, 48);
    x10 = v128.load(c1);
    x11 = v128.load(c1, 16);
    x12 = v128.load(c1, 32);
    x13 = v128.load(c1, 48);
  }
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
  if (planes<T>() == 2) {
    endPlanes(c, row, column, x00, x01, x10, x11, add);
    endPlanes(c + 32, row, column + 32, x02, x03, x12, x13, add);
  } else {
    endRow<T>(c, row, column, x00, x01, add);
    endRow<T>(c + 32, row, column + 32, x02, x03, add);
    endRow<T>(c1, row + 4, column, x10, x11, add);
    endRow<T>(c1 + 32, row + 4, column + 32, x12, x13, add);
  }
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
  const c1 = c + ldc;
  const first = corrections + column;
  let x00 = isFloat<T>() ? f32x4.splat(0) : v128.load(first);
  let x01 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 16);
  let x10 = odd<T>(x00);
  let x11 = odd<T>(x01);
  if (isFloat<T>() && add) {
    x00 = v128.load(c);
    x01 = v128.load(c, 16);
    x10 = v128.load(c1);
    x11 = v128.load(c1, 16);
  }
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
  if (planes<T>() == 2) {
    endPlanes(c, row, column, x00, x01, x10, x11, add);
  } else {
    endRow<T>(c, row, column, x00, x01, add);
    endRow<T>(c1, row + 4, column, x10, x11, add);
  }
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
  const first = corrections + column;
  let x0 = isFloat<T>() ? f32x4.splat(0) : v128.load(first);
  let x1 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 16);
  let x2 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 32);
  let x3 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 48);
  let x4 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 64);
  let x5 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 80);
  let x6 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 96);
  let x7 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 112);
  if (isFloat<T>() && add) {
    x0 = v128.load(c);
    x1 = v128.load(c, 16);
    x2 = v128.load(c, 32);
    x3 = v128.load(c, 48);
    x4 = v128.load(c, 64);
    x5 = v128.load(c, 80);
    x6 = v128.load(c, 96);
    x7 = v128.load(c, 112);
  }
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
  const first = corrections + column;
  let x0 = isFloat<T>() ? f32x4.splat(0) : v128.load(first);
  let x1 = isFloat<T>() ? f32x4.splat(0) : v128.load(first, 16);
  if (isFloat<T>() && add) {
    x0 = v128.load(c);
    x1 = v128.load(c, 16);
  }
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
  const c1 = c + ldc;
  const none = i32x4.splat(0);
  const first = corrections + column;
  let x00 = v128.load(first);
  let x01 = v128.load(first, 16);
  let x10 = odd<T>(x00);
  let x11 = odd<T>(x01);
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
  if (planes<T>() == 2) {
    endPlanes(c, row, column, x00, x01, x10, x11, add);
  } else {
    endRow<T>(c, row, column, x00, x01, add);
    endRow<T>(c1, row + 4, column, x10, x11, add);
  }
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
  const first = corrections + column;
  let x0 = v128.load(first);
  let x1 = v128.load(first, 16);
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
