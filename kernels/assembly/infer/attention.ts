/**
 * Attention over cached keys and values (their layout is in cache.ts). A query's scores are in the order of the keys, whichever caches they
 * come from; sums run in that order, and hidden keys weigh exactly 0. So a token's attention has the same bits when its sequence is read
 * as a prompt, when it is generated, and when a part of it was cached before.
 */
import { bytes, exp4, horizontalMax, horizontalSum } from '../shared/vector';
import { linear } from './product';

/** The score of a hidden key; its exponential counts as 0. */
const HIDDEN: f32 = -3e38;

/** The number of query tokens of a prompt that attend together. */
const BLOCK: i32 = 12;

/** The words of work area that attention needs for `rows` samples, or for a block of a prompt's tokens, over up to `keys` keys. */
export function attentionWords(rows: i32, keys: i32, heads: i32, kvHeads: i32, headDim: i32): i32 {
  return max(rows, BLOCK) * (heads / kvHeads) * (2 * headDim + keys + 24);
}

/** Turns raw scores into probabilities for keys [from, visible); all others up to width, a multiple of 4, become 0. */
function softmax(row: usize, from: i32, visible: i32, width: i32, scale: f32): void {
  const end = bytes(width);
  for (let j: usize = 0; j < bytes(from); j += 4) store<f32>(row + j, HIDDEN);
  for (let j = bytes(visible); j < end; j += 4) store<f32>(row + j, HIDDEN);
  let top = f32x4.splat(HIDDEN);
  for (let j: usize = 0; j < end; j += 16) top = f32x4.pmax(top, v128.load(row + j));
  const shift = f32x4.splat(horizontalMax(top) * scale);
  const factor = f32x4.splat(scale);
  const hidden = f32x4.splat(HIDDEN);
  let sum = f32x4.splat(0);
  for (let j: usize = 0; j < end; j += 16) {
    const x = v128.load(row + j);
    const e = v128.and(exp4(f32x4.sub(f32x4.mul(x, factor), shift)), f32x4.ne(x, hidden));
    v128.store(row + j, e);
    sum = f32x4.add(sum, e);
  }
  const inverse = f32x4.splat(<f32>1 / horizontalSum(sum));
  for (let j: usize = 0; j < end; j += 16) v128.store(row + j, f32x4.mul(v128.load(row + j), inverse));
}

function up8(n: i32): i32 {
  return (n + 7) & -8;
}

/**
 * One new token of each of `samples` rows attends over its prompt's cache (`shared` keys) and its own (`own` keys, the token's included).
 * q: rows of `ld` values, heads first; o [samples, heads * headDim]. caches: i32 [samples], addresses to which `layer` is added.
 * Of the keys only the last `window` are seen; scores are divided by the root of `scalar`. work: an area of `attentionWords` words.
 */
export function attendSamples(
  samples: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  q: usize,
  ld: i32,
  o: usize,
  prompt: usize,
  promptRoom: i32,
  shared: i32,
  caches: usize,
  layer: usize,
  room: i32,
  own: i32,
  window: i32,
  scalar: f32,
  work: usize,
): void {
  const group = heads / kvHeads;
  const rows = samples * group;
  const scale = <f32>1 / sqrt(scalar);
  const width = (shared + up8(own) + 3) & -4;
  const scores = work + bytes(rows * headDim);
  const results = scores + bytes(rows * width + 8);
  const panel = bytes(headDim * 8);
  for (let h = 0; h < kvHeads; h++) {
    const keys = prompt + bytes(2 * h * promptRoom * headDim);
    const values = keys + bytes(promptRoom * headDim);
    const ownHead = layer + bytes(2 * h * room * headDim);
    for (let s = 0; s < samples; s++)
      memory.copy(
        work + bytes(s * group * headDim),
        q + bytes(s * ld + h * group * headDim),
        bytes(group * headDim),
      );
    if (shared) linear(rows, shared, headDim, work, headDim, keys, panel, scores, width, 0);
    // The last tile of shared keys wrote up to 7 columns too many, which the own keys' scores replace.
    for (let s = 0; s < samples; s++) {
      const ownKeys = <usize>load<i32>(caches + bytes(s)) + ownHead;
      const at = work + bytes(s * group * headDim);
      linear(
        group,
        own,
        headDim,
        at,
        headDim,
        ownKeys,
        panel,
        scores + bytes(s * group * width + shared),
        width,
        0,
      );
    }
    for (let r = 0; r < rows; r++)
      softmax(scores + bytes(r * width), max(0, shared + own - window), shared + own, width, scale);
    if (shared)
      linear(rows, headDim, shared, scores, width, values, bytes(promptRoom * 8), results, headDim, 0);
    for (let s = 0; s < samples; s++) {
      const ownValues = <usize>load<i32>(caches + bytes(s)) + ownHead + bytes(room * headDim);
      const p = scores + bytes(s * group * width + shared);
      const to = results + bytes(s * group * headDim);
      linear(group, headDim, own, p, width, ownValues, bytes(room * 8), to, headDim, shared ? 1 : 0);
      memory.copy(o + bytes((s * heads + h * group) * headDim), to, bytes(group * headDim));
    }
  }
}

/**
 * Tokens [first, first + rows) of a prompt each attend over the tokens up to themselves, which are in the cache. q, o as in `attendSamples`.
 */
export function attendPrompt(
  rows: i32,
  first: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  q: usize,
  ld: i32,
  o: usize,
  cache: usize,
  room: i32,
  window: i32,
  scalar: f32,
  work: usize,
): void {
  const group = heads / kvHeads;
  const scale = <f32>1 / sqrt(scalar);
  for (let h = 0; h < kvHeads; h++) {
    const keys = cache + bytes(2 * h * room * headDim);
    const values = keys + bytes(room * headDim);
    for (let i = 0; i < rows; i += BLOCK) {
      const block = min(BLOCK, rows - i);
      const seen = first + i + block;
      const width = up8(seen);
      const lines = block * group;
      const scores = work + bytes(lines * headDim);
      const results = scores + bytes(lines * width);
      for (let s = 0; s < block; s++)
        memory.copy(
          work + bytes(s * group * headDim),
          q + bytes((i + s) * ld + h * group * headDim),
          bytes(group * headDim),
        );
      linear(lines, width, headDim, work, headDim, keys, bytes(headDim * 8), scores, width, 0);
      for (let l = 0; l < lines; l++) {
        const visible = first + i + l / group + 1;
        softmax(scores + bytes(l * width), max(0, visible - window), visible, width, scale);
      }
      linear(lines, headDim, seen, scores, width, values, bytes(room * 8), results, headDim, 0);
      for (let s = 0; s < block; s++)
        memory.copy(
          o + bytes(((i + s) * heads + h * group) * headDim),
          results + bytes(s * group * headDim),
          bytes(group * headDim),
        );
    }
  }
}
