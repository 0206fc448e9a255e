/** Computes C (+)= A B for a right side B that is laid out in panels: weights, or the keys and values of a cache. */
import { pack } from '../shared/panels';
import { bytes } from '../shared/vector';
import { planes, setScales } from './operands';
import { tile1, tile1Deep, tile1x32, tile2, tile2Deep, tile2x16, tile4, tile4x16, tile6 } from './tiles';

/** The address of the area for the left side of a product in panels. */
let scratch: usize = 0;

/** Sets the address of an area for the largest left side: rows * steps words (twice as many for two planes). */
export function setScratch(address: usize): void {
  scratch = address;
}

/** Whether float32 takes tiles of 4 x 16, which pay where pairs of 128-bit operations run as one. */
let wideTiles: bool = false;

export function setWideTiles(on: i32): void {
  wideTiles = on != 0;
}

/** The number of rows that tiles of six take of `rows` of A. */
function sixesOf<T>(rows: i32): i32 {
  return isFloat<T>() && wideTiles ? 0 : rows - (rows % 6);
}

/** Packs a row-major [n, steps] operand of words into panels of 8 rows; rows past n repeat the last one. `stride` is in words. */
export function packPanels(to: usize, from: usize, stride: i32, n: i32, steps: i32): void {
  pack(to, from, stride, true, n, steps, 8);
}

/** Packs the rows of the left side into panels of 6, of which there may be none, of 4, then at most one each of 2 and 1. */
function packLeft<T>(from: usize, lda: i32, rows: i32, steps: i32): void {
  const sixes = sixesOf<T>(rows);
  if (sixes) pack(scratch, from, lda, true, sixes, steps, 6);
  const fours = (rows - sixes) & -4;
  let done = sixes + fours;
  if (fours) pack(scratch + bytes(sixes * steps), from + bytes(sixes * lda), lda, true, fours, steps, 4);
  for (let height = 2; height > 0; height >>= 1) {
    if (rows - done < height) continue;
    const to = scratch + bytes(done * steps);
    if (height == 1) memory.copy(to, from + bytes(done * lda), bytes(steps));
    else pack(to, from + bytes(done * lda), lda, true, height, steps, height);
    done += height;
  }
}

/** Multiplies by tiles. `rows` counts rows of A; with two planes, two of them make one row of C. */
function multiply<T>(
  rows: i32,
  n: i32,
  steps: i32,
  a: usize,
  lda: i32,
  b: usize,
  panel: usize,
  c: usize,
  ldc: i32,
  add: bool,
): void {
  n = (n + 7) & -8;
  const line = bytes(ldc);
  const lone = rows == 1;
  if (!lone) packLeft<T>(a, lda, rows, steps);
  const left = lone ? a : scratch;
  const sixes = sixesOf<T>(rows);
  const fours = sixes + ((rows - sixes) & -4);
  const twos = fours + ((rows - fours) & 2);
  for (let first = 0; first < n; first += 32) {
    // Four panels are taken at a time, so that they stay in the nearest cache while all rows pass.
    const last = min(n, first + 32);
    let j = first;
    if (isFloat<T>() && wideTiles)
      for (; j + 16 <= last; j += 16)
        for (let i = 0; i < fours; i += 4)
          tile4x16(
            steps,
            left + bytes(i * steps),
            b + <usize>(j >> 3) * panel,
            panel,
            c + <usize>i * line + bytes(j),
            line,
            add,
          );
    for (; j < last; j += 8) {
      const right = b + <usize>(j >> 3) * panel;
      for (let i = 0; i < sixes; i += 6) {
        const row = i / planes<T>();
        tile6<T>(
          steps,
          left + bytes(i * steps),
          right,
          c + <usize>row * line + bytes(j),
          line,
          bytes(row),
          bytes(j),
          add,
        );
      }
      for (let i = sixes; i < fours; i += 4) {
        const row = i / planes<T>();
        tile4<T>(
          steps,
          left + bytes(i * steps),
          right,
          c + <usize>row * line + bytes(j),
          line,
          bytes(row),
          bytes(j),
          add,
        );
      }
    }
    if (twos > fours) {
      const row = fours / planes<T>();
      const ap = left + bytes(fours * steps);
      let j = first;
      if (isInteger<T>())
        for (; j < last; j += 8)
          tile2Deep<T>(
            steps,
            ap,
            b + <usize>(j >> 3) * panel,
            c + <usize>row * line + bytes(j),
            line,
            bytes(row),
            bytes(j),
            add,
          );
      for (; j + 16 <= last; j += 16)
        tile2x16<T>(
          steps,
          ap,
          b + <usize>(j >> 3) * panel,
          panel,
          c + <usize>row * line + bytes(j),
          line,
          bytes(row),
          bytes(j),
          add,
        );
      if (j < last)
        tile2<T>(
          steps,
          ap,
          b + <usize>(j >> 3) * panel,
          c + <usize>row * line + bytes(j),
          line,
          bytes(row),
          bytes(j),
          add,
        );
    }
    if (planes<T>() == 1 && rows > twos) {
      const ap = left + bytes(twos * steps);
      let j = first;
      if (isInteger<T>())
        for (; j < last; j += 8)
          tile1Deep<T>(
            steps,
            ap,
            b + <usize>(j >> 3) * panel,
            c + <usize>twos * line + bytes(j),
            bytes(twos),
            bytes(j),
            add,
          );
      for (; j + 32 <= last; j += 32)
        tile1x32<T>(
          steps,
          ap,
          b + <usize>(j >> 3) * panel,
          panel,
          c + <usize>twos * line + bytes(j),
          bytes(twos),
          bytes(j),
          add,
        );
      for (; j < last; j += 8)
        tile1<T>(
          steps,
          ap,
          b + <usize>(j >> 3) * panel,
          c + <usize>twos * line + bytes(j),
          bytes(twos),
          bytes(j),
          add,
        );
    }
  }
}

/**
 * C [rows, n] (+)= A [rows, k] B in float32. B is in panels of 8 columns, `panel` bytes apart, [k][8] each; lda and ldc are in values. n is
 * rounded up to a multiple of 8, and C must have room for that; values of a row of C beyond n have no meaning.
 */
export function linear(
  rows: i32,
  n: i32,
  k: i32,
  a: usize,
  lda: i32,
  b: usize,
  panel: usize,
  c: usize,
  ldc: i32,
  add: i32,
): void {
  multiply<f32>(rows, n, k, a, lda, b, panel, c, ldc, add != 0);
}

/**
 * C [rows, n] (+)= scaled integer product. A: rows of k activations of 7 bits (`quantizeRows`), or, with `two`, pairs of rows, the high plane
 * and the low plane (`quantizeRowsTwice`); scales f32 [rows]. B: panels of 8 columns [k / 4][8][4] of 8-bit weights with corrections and
 * scales (`quantizeWeights`). k is a multiple of 16.
 */
export function linearInt8(
  rows: i32,
  n: i32,
  k: i32,
  a: usize,
  scales: usize,
  b: usize,
  corrections: usize,
  columnScales: usize,
  c: usize,
  ldc: i32,
  add: i32,
  two: i32,
): void {
  const steps = k >> 2;
  const panel = bytes(steps * 8);
  setScales(corrections, columnScales, scales);
  if (two) multiply<i16>(2 * rows, n, steps, a, steps, b, panel, c, ldc, add != 0);
  else multiply<i8>(rows, n, steps, a, steps, b, panel, c, ldc, add != 0);
}
