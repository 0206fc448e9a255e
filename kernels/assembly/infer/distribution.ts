/**
 * Computes from logits a drawn token, or the score of a given one. A row of logits is changed in place. Its length is `width`, a multiple
 * of 4 that is at least the vocabulary's size n; the values beyond n are hidden first.
 */
import { bytes, exp4, horizontalMax, horizontalSum, madd } from '../shared/vector';

/** The logit of a token that is not allowed; its exponential counts as 0. */
const HIDDEN: f32 = -3e38;

function hideRest(row: usize, n: i32, width: i32): void {
  for (let j = bytes(n); j < bytes(width); j += 4) store<f32>(row + j, HIDDEN);
}

function largest(row: usize, width: i32): f32 {
  let top = f32x4.splat(HIDDEN);
  for (let j: usize = 0; j < bytes(width); j += 16) top = f32x4.pmax(top, v128.load(row + j));
  return horizontalMax(top);
}

/** The sum of exp((x - top) * scale), where hidden tokens count 0. The terms are written to `to`, which may be the row. */
function exponentials(row: usize, to: usize, width: i32, top: f32, scale: f32): f32 {
  const shift = f32x4.splat(top * scale);
  const factor = f32x4.splat(scale);
  const hidden = f32x4.splat(HIDDEN);
  let sum = f32x4.splat(0);
  for (let j: usize = 0; j < bytes(width); j += 16) {
    const x = v128.load(row + j);
    const e = v128.and(exp4(f32x4.sub(f32x4.mul(x, factor), shift)), f32x4.ne(x, hidden));
    v128.store(to + j, e);
    sum = f32x4.add(sum, e);
  }
  return horizontalSum(sum);
}

function logProb(x: f32, top: f32, scale: f32, sum: f32): f32 {
  return x * scale - top * scale - <f32>NativeMath.log(<f64>sum);
}

/** Hides the tokens whose next state in `next` i32 [n] is negative: the grammar does not allow them. */
function hideRefused(row: usize, next: usize, n: i32): void {
  for (let j: usize = 0; j < bytes(n); j += 4) if (load<i32>(next + j) < 0) store<f32>(row + j, HIDDEN);
}

/** Hides the tokens whose logit is below `least`; those equal to it stay. */
function hideBelow(row: usize, width: i32, least: f32): void {
  const bound = f32x4.splat(least);
  const hidden = f32x4.splat(HIDDEN);
  for (let j: usize = 0; j < bytes(width); j += 16) {
    const x = v128.load(row + j);
    v128.store(row + j, v128.bitselect(x, hidden, f32x4.ge(x, bound)));
  }
}

/** Restores the heap order (largest value first) of n values below item i. */
function sink(heap: usize, n: i32, i: i32): void {
  const x = load<f32>(heap + bytes(i));
  for (let child = 2 * i + 1; child < n; child = 2 * i + 1) {
    let y = load<f32>(heap + bytes(child));
    if (child + 1 < n && load<f32>(heap + bytes(child + 1)) > y) y = load<f32>(heap + bytes(++child));
    if (y <= x) break;
    store<f32>(heap + bytes(i), y);
    i = child;
  }
  store<f32>(heap + bytes(i), x);
}

/** Copies the row's values to `heap` and orders them as a heap. */
function heapOf(row: usize, heap: usize, n: i32): void {
  memory.copy(heap, row, bytes(n));
  for (let i = (n >> 1) - 1; i >= 0; i--) sink(heap, n, i);
}

/** Removes the largest of n values from the heap and returns it. */
function pop(heap: usize, n: i32): f32 {
  const top = load<f32>(heap);
  store<f32>(heap, load<f32>(heap + bytes(n - 1)));
  sink(heap, n - 1, 0);
  return top;
}

/** The topK-th largest value. */
function leastOfTop(row: usize, n: i32, topK: i32, heap: usize): f32 {
  heapOf(row, heap, n);
  for (let left = n; left > n - topK + 1; left--) pop(heap, left);
  return load<f32>(heap);
}

/** The least value in the smallest set of most likely tokens whose total probability reaches topP. */
function leastOfMass(row: usize, n: i32, width: i32, scale: f32, topP: f32, heap: usize): f32 {
  const top = largest(row, width);
  const enough = topP * exponentials(row, heap, width, top, scale);
  heapOf(row, heap, n);
  let mass: f32 = 0;
  let least = top;
  for (let left = n; left > 0 && mass < enough; left--) {
    least = pop(heap, left);
    mass += f32x4.extract_lane(exp4(f32x4.splat(least * scale - top * scale)), 0);
  }
  return least;
}

/** The first token at which the running sum of terms reaches the threshold, or the last possible token if rounding prevents that. */
function reach(terms: usize, n: i32, threshold: f32): i32 {
  let sum: f32 = 0;
  let last = 0;
  for (let j = 0; j < n; j++) {
    const term = load<f32>(terms + bytes(j));
    if (term == 0) continue;
    sum += term;
    last = j;
    if (sum >= threshold) break;
  }
  return last;
}

function indexOf(row: usize, x: f32): i32 {
  let j = 0;
  while (load<f32>(row + bytes(j)) != x) j++;
  return j;
}

/**
 * Draws a token for each row by the inverse of the cumulative distribution, or takes the most likely one if `greedy`.
 * logits [rows, width]; scale: 1 / temperature; topK 0 and topP 1 keep everything; next: i32 [rows], addresses of what a grammar allows in
 * the row's state, i32 [n] each, or 0; uniforms f32 [rows] in (0, 1) -> tokens i32 [rows], logprobs f32 [rows] (nats) under the distribution
 * that was drawn from. room: width words.
 */
export function draw(
  rows: i32,
  n: i32,
  width: i32,
  logits: usize,
  scale: f32,
  greedy: i32,
  topK: i32,
  topP: f32,
  next: usize,
  uniforms: usize,
  tokens: usize,
  logprobs: usize,
  room: usize,
): void {
  for (let r = 0; r < rows; r++) {
    const row = logits + bytes(r * width);
    const allowed = <usize>load<i32>(next + bytes(r));
    hideRest(row, n, width);
    if (allowed) hideRefused(row, allowed, n);
    if (!greedy && topK > 0 && topK < n) hideBelow(row, width, leastOfTop(row, n, topK, room));
    if (!greedy && topP < 1) hideBelow(row, width, leastOfMass(row, n, width, scale, topP, room));
    const top = largest(row, width);
    const sum = exponentials(row, room, width, top, scale);
    const token = greedy ? indexOf(row, top) : reach(room, n, load<f32>(uniforms + bytes(r)) * sum);
    store<i32>(tokens + bytes(r), token);
    store<f32>(logprobs + bytes(r), logProb(load<f32>(row + bytes(token)), top, scale, sum));
  }
}

/** Computes the log-probabilities of `targets` i32 [rows] and the entropies of the rows, both f32 [rows] in nats, at temperature 1. */
export function score(
  rows: i32,
  n: i32,
  width: i32,
  logits: usize,
  targets: usize,
  logprobs: usize,
  entropies: usize,
  room: usize,
): void {
  for (let r = 0; r < rows; r++) {
    const row = logits + bytes(r * width);
    hideRest(row, n, width);
    const top = largest(row, width);
    const sum = exponentials(row, room, width, top, 1);
    const shift = f32x4.splat(top);
    let weighted = f32x4.splat(0);
    for (let j: usize = 0; j < bytes(width); j += 16) {
      const e = v128.load(room + j);
      const z = v128.and(f32x4.sub(v128.load(row + j), shift), f32x4.gt(e, f32x4.splat(0)));
      weighted = madd(e, z, weighted);
    }
    const target = load<f32>(row + bytes(load<i32>(targets + bytes(r))));
    store<f32>(logprobs + bytes(r), logProb(target, top, 1, sum));
    store<f32>(entropies + bytes(r), <f32>NativeMath.log(<f64>sum) - horizontalSum(weighted) / sum);
  }
}
