/**
 * Caches of keys and values, laid out as the right sides of attention's products. One layer of one sequence has, for each key-value head,
 * the keys in panels over keys [room / 8][headDim][8], then the values in panels over dimensions [headDim / 8][room][8]; `room`, a multiple
 * of 8, is the number of keys that there is room for.
 */
import { bytes } from '../shared/vector';

/** The address of key `at` among a head's keys; its dimensions are 32 bytes apart. */
function keyAt(keys: usize, headDim: i32, at: i32): usize {
  return keys + bytes((at >> 3) * headDim * 8 + (at & 7));
}

/** Writes the keys and values [kvHeads, headDim] of one token, one after the other, to place `at`. */
function appendToken(x: usize, cache: usize, kvHeads: i32, headDim: i32, room: i32, at: i32): void {
  const size = bytes(room * headDim);
  const values = x + bytes(kvHeads * headDim);
  for (let h = 0; h < kvHeads; h++, cache += 2 * size) {
    const head = bytes(h * headDim);
    let to = keyAt(cache, headDim, at);
    for (let e: usize = 0; e < bytes(headDim); e += 4, to += 32) store<f32>(to, load<f32>(x + head + e));
    to = cache + size + bytes(at * 8);
    for (let e: usize = 0; e < bytes(headDim); e += 32, to += bytes(room * 8)) {
      v128.store(to, v128.load(values + head + e));
      v128.store(to, v128.load(values + head + e, 16), 16);
    }
  }
}

/** Writes tokens of one sequence to places from `first` on; the rows of x, `ld` values apart, hold keys, then values. */
export function appendTokens(
  rows: i32,
  ld: i32,
  x: usize,
  cache: usize,
  kvHeads: i32,
  headDim: i32,
  room: i32,
  first: i32,
): void {
  for (let r = 0; r < rows; r++, x += bytes(ld)) appendToken(x, cache, kvHeads, headDim, room, first + r);
}

/** Writes one token of each row to place `at` of the row's own cache, whose address is in i32 [rows], plus `layer` bytes. */
export function appendRows(
  rows: i32,
  ld: i32,
  x: usize,
  caches: usize,
  layer: usize,
  kvHeads: i32,
  headDim: i32,
  room: i32,
  at: i32,
): void {
  for (let r = 0; r < rows; r++, x += bytes(ld))
    appendToken(x, <usize>load<i32>(caches + bytes(r)) + layer, kvHeads, headDim, room, at);
}

/** For one layer, copies the first `count` keys and values of one cache behind the first `at` of another. */
export function copyCache(
  kvHeads: i32,
  headDim: i32,
  from: usize,
  fromRoom: i32,
  count: i32,
  to: usize,
  toRoom: i32,
  at: i32,
): void {
  const fromSize = bytes(fromRoom * headDim);
  const toSize = bytes(toRoom * headDim);
  for (let h = 0; h < kvHeads; h++, from += 2 * fromSize, to += 2 * toSize) {
    for (let i = 0; i < count; i++) {
      let source = keyAt(from, headDim, i);
      let target = keyAt(to, headDim, at + i);
      for (let e = 0; e < headDim; e++, source += 32, target += 32) store<f32>(target, load<f32>(source));
    }
    for (let panel = 0; panel < headDim >> 3; panel++)
      memory.copy(
        to + toSize + bytes((panel * toRoom + at) * 8),
        from + fromSize + bytes(panel * fromRoom * 8),
        bytes(count * 8),
      );
  }
}
