/** Quantizes activations and weights to small integers with float32 scales. */

import { bytes, horizontalMax } from '../shared/vector';
import { packPanels } from './product';

/** Adding 1.5 * 2^23 to a small float leaves it, rounded to an integer (ties to even), in the low bits. */
const ROUND: f32 = 12582912;
const ROUND_BITS: i32 = 0x4b400000;
/** A lower bound that keeps the scales of rows of zeros positive. */
const LEAST: f32 = 1e-20;

function largest(x: usize, k: i32): f32 {
  let top = f32x4.splat(0);
  for (let j: usize = 0; j < bytes(k); j += 16) top = f32x4.pmax(top, f32x4.abs(v128.load(x + j)));
  return max(horizontalMax(top), LEAST);
}

/** round(x * factor) + zero for four values. */
function round4(x: usize, factor: v128, zero: i32): v128 {
  const shifted = f32x4.add(f32x4.mul(v128.load(x), factor), f32x4.splat(ROUND));
  return i32x4.sub(shifted, i32x4.splat(ROUND_BITS - zero));
}

function narrow(a: v128, b: v128, c: v128, d: v128): v128 {
  return i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
}

/** Quantizes x [rows, k] to q [rows, k] of 7 bits and scales [rows]: q = round(x / scale) + 64 in 1 … 127. k is a multiple of 16. */
export function quantizeRows(rows: i32, k: i32, x: usize, q: usize, scales: usize): void {
  for (let r = 0; r < rows; r++, x += bytes(k)) {
    const most = largest(x, k);
    store<f32>(scales + bytes(r), most / 63);
    const factor = f32x4.splat(63 / most);
    for (let j: usize = 0; j < bytes(k); j += 64, q += 16) {
      const at = x + j;
      v128.store(
        q,
        narrow(
          round4(at, factor, 64),
          round4(at + 16, factor, 64),
          round4(at + 32, factor, 64),
          round4(at + 48, factor, 64),
        ),
      );
    }
  }
}

/**
 * Quantizes x [rows, k] to q [rows, 2, k] and scales [rows]: 13 bits in two planes, x = scale * (64 * (high - 64) + low) with high in
 * 0 … 127 and low in 0 … 63. k is a multiple of 16.
 */
export function quantizeRowsTwice(rows: i32, k: i32, x: usize, q: usize, scales: usize): void {
  const mask = i32x4.splat(63);
  for (let r = 0; r < rows; r++, x += bytes(k), q += <usize>(2 * k)) {
    const most = largest(x, k);
    store<f32>(scales + bytes(r), most / 4032);
    const factor = f32x4.splat(4032 / most);
    for (let j: usize = 0; j < bytes(k); j += 64) {
      const a = round4(x + j, factor, 4096);
      const b = round4(x + j + 16, factor, 4096);
      const c = round4(x + j + 32, factor, 4096);
      const d = round4(x + j + 48, factor, 4096);
      const high = narrow(i32x4.shr_u(a, 6), i32x4.shr_u(b, 6), i32x4.shr_u(c, 6), i32x4.shr_u(d, 6));
      const low = narrow(v128.and(a, mask), v128.and(b, mask), v128.and(c, mask), v128.and(d, mask));
      v128.store(q + (j >> 2), high);
      v128.store(q + <usize>k + (j >> 2), low);
    }
  }
}

/**
 * Quantizes weights [n, k] to panels [n / 8][k / 4][8][4] of 8 bits, scales f32 [n] by column of the product and corrections i32 [n].
 * `room`: a work area of n * k bytes. Scales and corrections past n, up to a multiple of 8, are not written.
 */
export function quantizeWeights(
  n: i32,
  k: i32,
  from: usize,
  to: usize,
  scales: usize,
  corrections: usize,
  room: usize,
): void {
  for (let r = 0; r < n; r++) {
    const x = from + bytes(r * k);
    let most = LEAST;
    for (let j = 0; j < k; j++) most = max(most, abs(load<f32>(x + bytes(j))));
    const factor = <f32>127 / most;
    let sum = 0;
    for (let j = 0; j < k; j++) {
      const v = <i32>nearest(load<f32>(x + bytes(j)) * factor);
      sum += v;
      store<i8>(room + <usize>(r * k + j), <i8>v);
    }
    store<f32>(scales + bytes(r), most / 127);
    store<i32>(corrections + bytes(r), -64 * sum);
  }
  packPanels(to, room, k >> 2, n, k >> 2);
}
