/**
 * Packed operands of a matrix product and the register-tile kernels over them (the GotoBLAS scheme). Packing makes a transposed
 * operand cost the same as a plain one.
 */
import { MR, NR, scratch } from './scratch';
import { bytes, madd } from './vector';

/** Bytes of one edge tile at the start of the scratch area. */
export const TILE_BYTES: usize = 256;

/** Four rows of four values: transposes them into four steps of a panel that is `step` bytes wide. */
function transpose4(to: usize, step: usize, a: v128, b: v128, c: v128, d: v128): void {
  const ab0 = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const ab1 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const cd0 = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const cd1 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f32>(ab0, cd0, 0, 1, 4, 5));
  v128.store(to + step, v128.shuffle<f32>(ab0, cd0, 2, 3, 6, 7));
  v128.store(to + 2 * step, v128.shuffle<f32>(ab1, cd1, 0, 1, 4, 5));
  v128.store(to + 3 * step, v128.shuffle<f32>(ab1, cd1, 2, 3, 6, 7));
}

/** Rows r … r+3 of a row-major operand into columns of a panel; rows past the end repeat the last one (never stored to C). */
function packFourRows(to: usize, step: usize, from: usize, stride: usize, row: i32, rows: i32, k: i32): void {
  const r0 = from + <usize>min(row, rows - 1) * stride;
  const r1 = from + <usize>min(row + 1, rows - 1) * stride;
  const r2 = from + <usize>min(row + 2, rows - 1) * stride;
  const r3 = from + <usize>min(row + 3, rows - 1) * stride;
  const end = bytes(k);
  let p: usize = 0;
  for (; p + 16 <= end; p += 16, to += step << 2) {
    transpose4(to, step, v128.load(r0 + p), v128.load(r1 + p), v128.load(r2 + p), v128.load(r3 + p));
  }
  for (; p < end; p += 4, to += step) {
    store<f32>(to, load<f32>(r0 + p));
    store<f32>(to, load<f32>(r1 + p), 4);
    store<f32>(to, load<f32>(r2 + p), 8);
    store<f32>(to, load<f32>(r3 + p), 12);
  }
}

function packTwoRows(to: usize, step: usize, from: usize, stride: usize, row: i32, rows: i32, k: i32): void {
  const r0 = from + <usize>min(row, rows - 1) * stride;
  const r1 = from + <usize>min(row + 1, rows - 1) * stride;
  const end = bytes(k);
  let p: usize = 0;
  for (; p + 16 <= end; p += 16, to += step << 2) {
    const a = v128.load(r0 + p);
    const b = v128.load(r1 + p);
    const low = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
    const high = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
    v128.store_lane<i64>(to, low, 0);
    v128.store_lane<i64>(to + step, low, 1);
    v128.store_lane<i64>(to + 2 * step, high, 0);
    v128.store_lane<i64>(to + 3 * step, high, 1);
  }
  for (; p < end; p += 4, to += step) {
    store<f32>(to, load<f32>(r0 + p));
    store<f32>(to, load<f32>(r1 + p), 4);
  }
}

/** k steps of `step` bytes (16, 24, 32 or 64) that lie `line` bytes apart. */
function copySteps(to: usize, step: usize, from: usize, line: usize, k: i32): void {
  const end = to + <usize>k * step;
  if (step == 16) {
    for (; to < end; to += 16, from += line) v128.store(to, v128.load(from));
  } else if (step == 24) {
    for (; to < end; to += 24, from += line) {
      v128.store(to, v128.load(from));
      store<i64>(to, load<i64>(from, 16), 16);
    }
  } else if (step == 32) {
    for (; to < end; to += 32, from += line) {
      v128.store(to, v128.load(from));
      v128.store(to, v128.load(from, 16), 16);
    }
  } else {
    for (; to < end; to += 64, from += line) {
      v128.store(to, v128.load(from));
      v128.store(to, v128.load(from, 16), 16);
      v128.store(to, v128.load(from, 32), 32);
      v128.store(to, v128.load(from, 48), 48);
    }
  }
}

/** The same where only `used` values of a step exist; the rest becomes 0. */
function copyPartialSteps(to: usize, step: usize, from: usize, line: usize, k: i32, used: i32): void {
  for (let p = 0; p < k; p++, from += line, to += step) {
    for (let j: usize = 0; j < step; j += 4) store<f32>(to + j, j < bytes(used) ? load<f32>(from + j) : 0);
  }
}

/**
 * Packs an [n, k] operand into panels `width` wide along n: to[ceil(n / width)][k][width].
 * Element (i, p) lies at i * stride + p where rowMajor, else at p * stride + i. `stride` in elements.
 */
export function pack(to: usize, from: usize, stride: i32, rowMajor: bool, n: i32, k: i32, width: i32): void {
  const line = bytes(stride);
  const step = bytes(width);
  for (let i = 0; i < n; i += width) {
    if (rowMajor) {
      let r = 0;
      for (; r + 4 <= width; r += 4) packFourRows(to + bytes(r), step, from, line, i + r, n, k);
      if (r < width) packTwoRows(to + bytes(r), step, from, line, i + r, n, k);
      to += <usize>k * step;
      continue;
    }
    const used = min(width, n - i);
    if (used == width) copySteps(to, step, from + bytes(i), line, k);
    else copyPartialSteps(to, step, from + bytes(i), line, k, used);
    to += <usize>k * step;
  }
}

/** C[4, 8] (+)= A panel [k][4] * B panel [k][8]; ldc in bytes. The fastest tile without fused multiply-add. */
function tile4x8(k: i32, a: usize, b: usize, c: usize, ldc: usize, add: bool): void {
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  const zero = f32x4.splat(0);
  let x00 = add ? v128.load(c) : zero;
  let x01 = add ? v128.load(c, 16) : zero;
  let x10 = add ? v128.load(c1) : zero;
  let x11 = add ? v128.load(c1, 16) : zero;
  let x20 = add ? v128.load(c2) : zero;
  let x21 = add ? v128.load(c2, 16) : zero;
  let x30 = add ? v128.load(c3) : zero;
  let x31 = add ? v128.load(c3, 16) : zero;
  for (const end = a + ((<usize>k) << 4); a < end; a += 16, b += 32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const s0 = v128.load_splat<f32>(a);
    x00 = madd(s0, b0, x00);
    x01 = madd(s0, b1, x01);
    const s1 = v128.load_splat<f32>(a, 4);
    x10 = madd(s1, b0, x10);
    x11 = madd(s1, b1, x11);
    const s2 = v128.load_splat<f32>(a, 8);
    x20 = madd(s2, b0, x20);
    x21 = madd(s2, b1, x21);
    const s3 = v128.load_splat<f32>(a, 12);
    x30 = madd(s3, b0, x30);
    x31 = madd(s3, b1, x31);
  }
  v128.store(c, x00);
  v128.store(c, x01, 16);
  v128.store(c1, x10);
  v128.store(c1, x11, 16);
  v128.store(c2, x20);
  v128.store(c2, x21, 16);
  v128.store(c3, x30);
  v128.store(c3, x31, 16);
}

/** C[6, 8] (+)= A panel [k][6] * B panel [k][8]; the fastest tile with fused multiply-add (15 of 16 registers). */
function tile6x8(k: i32, a: usize, b: usize, c: usize, ldc: usize, add: bool): void {
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  const c4 = c3 + ldc;
  const c5 = c4 + ldc;
  const zero = f32x4.splat(0);
  let x00 = add ? v128.load(c) : zero;
  let x01 = add ? v128.load(c, 16) : zero;
  let x10 = add ? v128.load(c1) : zero;
  let x11 = add ? v128.load(c1, 16) : zero;
  let x20 = add ? v128.load(c2) : zero;
  let x21 = add ? v128.load(c2, 16) : zero;
  let x30 = add ? v128.load(c3) : zero;
  let x31 = add ? v128.load(c3, 16) : zero;
  let x40 = add ? v128.load(c4) : zero;
  let x41 = add ? v128.load(c4, 16) : zero;
  let x50 = add ? v128.load(c5) : zero;
  let x51 = add ? v128.load(c5, 16) : zero;
  for (const end = a + <usize>k * 24; a < end; a += 24, b += 32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const s0 = v128.load_splat<f32>(a);
    x00 = madd(s0, b0, x00);
    x01 = madd(s0, b1, x01);
    const s1 = v128.load_splat<f32>(a, 4);
    x10 = madd(s1, b0, x10);
    x11 = madd(s1, b1, x11);
    const s2 = v128.load_splat<f32>(a, 8);
    x20 = madd(s2, b0, x20);
    x21 = madd(s2, b1, x21);
    const s3 = v128.load_splat<f32>(a, 12);
    x30 = madd(s3, b0, x30);
    x31 = madd(s3, b1, x31);
    const s4 = v128.load_splat<f32>(a, 16);
    x40 = madd(s4, b0, x40);
    x41 = madd(s4, b1, x41);
    const s5 = v128.load_splat<f32>(a, 20);
    x50 = madd(s5, b0, x50);
    x51 = madd(s5, b1, x51);
  }
  v128.store(c, x00);
  v128.store(c, x01, 16);
  v128.store(c1, x10);
  v128.store(c1, x11, 16);
  v128.store(c2, x20);
  v128.store(c2, x21, 16);
  v128.store(c3, x30);
  v128.store(c3, x31, 16);
  v128.store(c4, x40);
  v128.store(c4, x41, 16);
  v128.store(c5, x50);
  v128.store(c5, x51, 16);
}

/** C[4, 16] (+)= A panel [k][4] * B panel [k][16]; for engines that pair 128-bit operations into 256-bit ones. */
function tile4x16(k: i32, a: usize, b: usize, c: usize, ldc: usize, add: bool): void {
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
  // One branch, not sixteen choices: V8 pairs the operations only in this form.
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
  for (const end = a + ((<usize>k) << 4); a < end; a += 16, b += 64) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(b, 32);
    const b3 = v128.load(b, 48);
    const s0 = v128.load_splat<f32>(a);
    x00 = madd(s0, b0, x00);
    x01 = madd(s0, b1, x01);
    x02 = madd(s0, b2, x02);
    x03 = madd(s0, b3, x03);
    const s1 = v128.load_splat<f32>(a, 4);
    x10 = madd(s1, b0, x10);
    x11 = madd(s1, b1, x11);
    x12 = madd(s1, b2, x12);
    x13 = madd(s1, b3, x13);
    const s2 = v128.load_splat<f32>(a, 8);
    x20 = madd(s2, b0, x20);
    x21 = madd(s2, b1, x21);
    x22 = madd(s2, b2, x22);
    x23 = madd(s2, b3, x23);
    const s3 = v128.load_splat<f32>(a, 12);
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

function tile(k: i32, a: usize, b: usize, c: usize, ldc: usize, add: bool): void {
  if (NR == 16) tile4x16(k, a, b, c, ldc, add);
  else if (ASC_FEATURE_RELAXED_SIMD) tile6x8(k, a, b, c, ldc, add);
  else tile4x8(k, a, b, c, ldc, add);
}

/** C[m, n] (+)= packed A * packed B. `panelBytes` lie between two panels of B; ldc in elements. */
export function multiplyPanels(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  b: usize,
  panelBytes: usize,
  c: usize,
  ldc: i32,
  add: bool,
): void {
  const line = bytes(ldc);
  const aStep = (<usize>(k * MR)) << 2;
  for (let j = 0; j < n; j += NR, b += panelBytes) {
    for (let i = 0, ap = a; i < m; i += MR, ap += aStep) {
      const to = c + <usize>i * line + bytes(j);
      if (i + MR <= m && j + NR <= n) {
        tile(k, ap, b, to, line, add);
        continue;
      }
      // An edge: whole tile into scratch, then only the part that exists.
      tile(k, ap, b, scratch, bytes(NR), false);
      const rows = min(MR, m - i);
      const columns = min(NR, n - j);
      for (let r = 0; r < rows; r++) {
        for (let q = 0; q < columns; q++) {
          const at = to + <usize>r * line + bytes(q);
          const value = load<f32>(scratch + bytes(r * NR + q));
          store<f32>(at, add ? load<f32>(at) + value : value);
        }
      }
    }
  }
}
