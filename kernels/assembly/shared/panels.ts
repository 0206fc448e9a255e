/**
 * Packed operands of a matrix product, and the product of packed operands by register tiles (the GotoBLAS scheme). Packing makes a transposed
 * operand cost the same as a plain one.
 */
import { MR, NR, scratch } from './scratch';
import { tile } from './tiles';
import { bytes, halfBytes, widen } from './vector';

/** Bytes of one edge tile at the start of the scratch area. */
export const TILE_BYTES: usize = 256;

/** Transposes four rows of four values into four steps of a panel that is `step` bytes wide. */
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

/** Packs rows r … r+3 of a row-major operand into columns of a panel; rows past the end repeat the last one (never stored to C). */
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

/** Copies k steps of `step` bytes (16, 24, 32 or 64) that are `line` bytes apart. */
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

/** Copies k steps of which only `used` values exist; the rest of each step becomes 0. */
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

/** As `pack` for bfloat16 values and panels of NR. `widened` has room for NR rows of k float32 values. */
export function packHalf(
  to: usize,
  from: usize,
  stride: i32,
  rowMajor: bool,
  n: i32,
  k: i32,
  widened: usize,
): void {
  const line = halfBytes(stride);
  const step = bytes(NR);
  for (let i = 0; i < n; i += NR) {
    const used = min(NR, n - i);
    if (rowMajor) {
      for (let r = 0; r < used; r++) widen(widened + bytes(r * k), from + <usize>(i + r) * line, k);
      pack(to, widened, k, true, used, k, NR);
      to += <usize>k * step;
      continue;
    }
    for (let p = 0, at = from + halfBytes(i); p < k; p++, at += line, to += step) {
      for (let j = used; j < NR; j++) store<f32>(to + bytes(j), 0);
      widen(to, at, used);
    }
  }
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
      // At an edge the existing part goes through a whole tile in scratch, so that each value is one chain of multiply-adds there too, and
      // its bits do not depend on the shape of the tiles.
      const rows = min(MR, m - i);
      const columns = bytes(min(NR, n - j));
      if (add)
        for (let r = 0; r < rows; r++) memory.copy(scratch + bytes(r * NR), to + <usize>r * line, columns);
      tile(k, ap, b, scratch, bytes(NR), add);
      for (let r = 0; r < rows; r++) memory.copy(to + <usize>r * line, scratch + bytes(r * NR), columns);
    }
  }
}
