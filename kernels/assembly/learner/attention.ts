/**
 * Causal attention with grouped key-value heads and rotary positions over packed sequences: sequence b owns the rows
 * offsets[b] … offsets[b+1]-1. The backward pass recomputes the probabilities from the saved log-sums, block of queries by block,
 * so no [length, length] matrix is stored (the idea of FlashAttention).
 */

import { multiplyPanels, pack, TILE_BYTES } from '../shared/panels';
import { MR, NR, scratch } from '../shared/scratch';
import { bytes, exp4, horizontalMax, horizontalSum, madd } from '../shared/vector';
import { gemmScratchBytes } from './gemm';

/** Number of query rows handled at once; it is a multiple of every tile height. */
const BLOCK: i32 = 24;

/** Scratch bytes that attention needs on each thread for sequences up to `length` tokens. */
export function attentionScratchBytes(length: i32, headDim: i32): i32 {
  const n = (length + 23) & -16; // room to round up to any tile
  const h = (headDim + 15) & -16;
  const need = <i32>TILE_BYTES + ((6 * n * h + 4 * BLOCK * h + 3 * BLOCK * n + 64) << 2);
  return max(gemmScratchBytes(), need);
}

function roundUp(n: i32): i32 {
  return (n + NR - 1) & -NR;
}

/** Rotates n rows by their positions, first pair half with second (the Hugging Face layout); direction -1 undoes it. */
function rotate(
  to: usize,
  toStride: i32,
  from: usize,
  fromStride: i32,
  table: usize,
  position: i32,
  n: i32,
  headDim: i32,
  direction: f32,
): void {
  const half = (<usize>headDim) << 1;
  const sign = f32x4.splat(direction);
  for (let r = 0; r < n; r++) {
    const s = from + bytes(r * fromStride);
    const d = to + bytes(r * toStride);
    const t = table + bytes((position + r) * headDim);
    for (let j: usize = 0; j < half; j += 16) {
      const a = v128.load(s + j);
      const b = v128.load(s + half + j);
      const cosine = v128.load(t + j);
      const sine = f32x4.mul(v128.load(t + half + j), sign);
      v128.store(d + j, f32x4.sub(f32x4.mul(a, cosine), f32x4.mul(b, sine)));
      v128.store(d + half + j, f32x4.add(f32x4.mul(b, cosine), f32x4.mul(a, sine)));
    }
  }
}

/** Turns the raw scores of one row into probabilities: keys [from, visible) count, all others up to width become 0. Returns log sum exp. */
function softmaxRow(row: usize, from: i32, visible: i32, width: i32, scale: f32): f32 {
  const seen = bytes(visible);
  const end = bytes(width);
  for (let j: usize = 0; j < bytes(from); j += 4) store<f32>(row + j, -3e38);
  for (let j = seen; j < end; j += 4) store<f32>(row + j, -3e38);
  let top4 = f32x4.splat(-3e38);
  for (let j: usize = 0; j < end; j += 16) top4 = f32x4.pmax(top4, v128.load(row + j));
  const top = horizontalMax(top4) * scale;
  const shift = f32x4.splat(top);
  const factor = f32x4.splat(scale);
  let sum4 = f32x4.splat(0);
  for (let j: usize = 0; j < end; j += 16) {
    const e = exp4(f32x4.sub(f32x4.mul(v128.load(row + j), factor), shift));
    v128.store(row + j, e);
    sum4 = f32x4.add(sum4, e);
  }
  // exp is clamped, so a masked key left 1e-38 and not 0.
  for (let j: usize = 0; j < bytes(from); j += 4) store<f32>(row + j, 0);
  for (let j = seen; j < end; j += 4) store<f32>(row + j, 0);
  const sum = horizontalSum(sum4);
  const inverse = f32x4.splat(<f32>1 / sum);
  for (let j: usize = 0; j < end; j += 16) v128.store(row + j, f32x4.mul(v128.load(row + j), inverse));
  return top + <f32>NativeMath.log(<f64>sum);
}

/**
 * q [tokens, heads * headDim], k and v [tokens, kvHeads * headDim] -> o like q, logSum [tokens, heads].
 * table [positions, headDim]: cosines, then sines. headDim is a multiple of 8. A query sees the last `window` keys up to its own; scores are
 * divided by the root of `scalar`. One sequence and key-value head at a time.
 */
export function attention(
  sequences: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  window: i32,
  scalar: f32,
  offsets: usize,
  q: usize,
  k: usize,
  v: usize,
  table: usize,
  o: usize,
  logSum: usize,
  part: i32,
  parts: i32,
): void {
  const group = heads / kvHeads;
  const qWidth = heads * headDim;
  const kvWidth = kvHeads * headDim;
  const scale = <f32>1 / sqrt(scalar);
  for (let task = part; task < sequences * kvHeads; task += parts) {
    const first = load<i32>(offsets + bytes(task / kvHeads));
    const n = load<i32>(offsets + bytes(task / kvHeads + 1)) - first;
    const kvHead = task % kvHeads;
    const wide = roundUp(n);
    const kvAt = bytes(first * kvWidth + kvHead * headDim);
    const kRotated = scratch + TILE_BYTES;
    const kPanels = kRotated + bytes(n * headDim);
    const vPanels = kPanels + bytes(wide * headDim);
    const qRotated = vPanels + bytes(n * roundUp(headDim));
    const qPanels = qRotated + bytes(BLOCK * headDim);
    const scores = qPanels + bytes(BLOCK * headDim);
    const pPanels = scores + bytes(BLOCK * wide);
    rotate(kRotated, headDim, k + kvAt, kvWidth, table, 0, n, headDim, 1);
    pack(kPanels, kRotated, headDim, true, n, headDim, NR);
    pack(vPanels, v + kvAt, kvWidth, false, headDim, n, NR);
    for (let head = kvHead * group; head < (kvHead + 1) * group; head++) {
      for (let i = 0; i < n; i += BLOCK) {
        const rows = min(BLOCK, n - i);
        const keys = i + rows;
        const width = roundUp(keys);
        const at = bytes((first + i) * qWidth + head * headDim);
        rotate(qRotated, headDim, q + at, qWidth, table, i, rows, headDim, 1);
        pack(qPanels, qRotated, headDim, true, rows, headDim, MR);
        multiplyPanels(rows, width, headDim, qPanels, kPanels, bytes(headDim * NR), scores, wide, false);
        for (let r = 0; r < rows; r++) {
          const visible = i + r + 1;
          const value = softmaxRow(scores + bytes(r * wide), max(0, visible - window), visible, width, scale);
          store<f32>(logSum + bytes((first + i + r) * heads + head), value);
        }
        pack(pPanels, scores, wide, true, rows, keys, MR);
        multiplyPanels(rows, headDim, keys, pPanels, vPanels, bytes(n * NR), o + at, qWidth, false);
      }
    }
  }
}

/** Turns the raw scores and dP of one row into probabilities and dScores; keys before `from` and from `visible` on become 0. */
function scoreGradRow(
  scores: usize,
  dscores: usize,
  from: i32,
  visible: i32,
  width: i32,
  scale: f32,
  logSum: f32,
  dot: f32,
): void {
  const end = bytes(width);
  const factor = f32x4.splat(scale);
  const shift = f32x4.splat(logSum);
  const delta = f32x4.splat(dot);
  for (let j: usize = 0; j < end; j += 16) {
    const p = exp4(f32x4.sub(f32x4.mul(v128.load(scores + j), factor), shift));
    v128.store(scores + j, p);
    v128.store(dscores + j, f32x4.mul(f32x4.mul(p, factor), f32x4.sub(v128.load(dscores + j), delta)));
  }
  for (let j: usize = 0; j < bytes(from); j += 4) {
    store<f32>(scores + j, 0);
    store<f32>(dscores + j, 0);
  }
  for (let j = bytes(visible); j < end; j += 4) {
    store<f32>(scores + j, 0);
    store<f32>(dscores + j, 0);
  }
}

function dotRow(a: usize, b: usize, n: i32): f32 {
  let sum = f32x4.splat(0);
  for (let j: usize = 0; j < bytes(n); j += 16) sum = madd(v128.load(a + j), v128.load(b + j), sum);
  return horizontalSum(sum);
}

/** Gradients of `attention`: dout like o -> dq, dk, dv like q, k, v. */
export function attentionGrad(
  sequences: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  window: i32,
  scalar: f32,
  offsets: usize,
  q: usize,
  k: usize,
  v: usize,
  table: usize,
  o: usize,
  logSum: usize,
  dout: usize,
  dq: usize,
  dk: usize,
  dv: usize,
  part: i32,
  parts: i32,
): void {
  const group = heads / kvHeads;
  const qWidth = heads * headDim;
  const kvWidth = kvHeads * headDim;
  const scale = <f32>1 / sqrt(scalar);
  for (let task = part; task < sequences * kvHeads; task += parts) {
    const first = load<i32>(offsets + bytes(task / kvHeads));
    const n = load<i32>(offsets + bytes(task / kvHeads + 1)) - first;
    const kvHead = task % kvHeads;
    const wide = roundUp(n);
    const kvAt = bytes(first * kvWidth + kvHead * headDim);
    const whole = bytes(n * headDim);
    const block = bytes(BLOCK * roundUp(headDim));
    const blockWide = bytes(BLOCK * wide);
    const kRotated = scratch + TILE_BYTES;
    const kByKey = kRotated + whole; // panels over keys: scores
    const kByDim = kByKey + bytes(wide * headDim); // panels over dimensions: dq
    const vByKey = kByDim + bytes(n * roundUp(headDim)); // panels over keys: dP
    const dkSum = vByKey + bytes(wide * headDim);
    const qRotated = dkSum + whole;
    const leftPanels = qRotated + block;
    const rightPanels = leftPanels + block;
    const dqRotated = rightPanels + block;
    const scores = dqRotated + block;
    const dscores = scores + blockWide;
    const sPanels = dscores + blockWide;
    rotate(kRotated, headDim, k + kvAt, kvWidth, table, 0, n, headDim, 1);
    pack(kByKey, kRotated, headDim, true, n, headDim, NR);
    pack(kByDim, kRotated, headDim, false, headDim, n, NR);
    pack(vByKey, v + kvAt, kvWidth, true, n, headDim, NR);
    memory.fill(dkSum, 0, whole);
    for (let r = 0; r < n; r++) memory.fill(dv + kvAt + bytes(r * kvWidth), 0, bytes(headDim));
    for (let head = kvHead * group; head < (kvHead + 1) * group; head++) {
      for (let i = 0; i < n; i += BLOCK) {
        const rows = min(BLOCK, n - i);
        const keys = i + rows;
        const width = roundUp(keys);
        const at = bytes((first + i) * qWidth + head * headDim);
        rotate(qRotated, headDim, q + at, qWidth, table, i, rows, headDim, 1);
        pack(leftPanels, qRotated, headDim, true, rows, headDim, MR);
        multiplyPanels(rows, width, headDim, leftPanels, kByKey, bytes(headDim * NR), scores, wide, false);
        pack(leftPanels, dout + at, qWidth, true, rows, headDim, MR);
        multiplyPanels(rows, width, headDim, leftPanels, vByKey, bytes(headDim * NR), dscores, wide, false);
        for (let r = 0; r < rows; r++) {
          const row = at + bytes(r * qWidth);
          const dot = dotRow(dout + row, o + row, headDim);
          const value = load<f32>(logSum + bytes((first + i + r) * heads + head));
          scoreGradRow(
            scores + bytes(r * wide),
            dscores + bytes(r * wide),
            max(0, i + r + 1 - window),
            i + r + 1,
            width,
            scale,
            value,
            dot,
          );
        }
        // dQ = dS K, dK += dS^T Q, dV += P^T dO
        pack(sPanels, dscores, wide, true, rows, keys, MR);
        multiplyPanels(rows, headDim, keys, sPanels, kByDim, bytes(n * NR), dqRotated, headDim, false);
        rotate(dq + at, qWidth, dqRotated, headDim, table, i, rows, headDim, -1);
        pack(rightPanels, qRotated, headDim, false, headDim, rows, NR);
        pack(sPanels, dscores, wide, false, keys, rows, MR);
        multiplyPanels(keys, headDim, rows, sPanels, rightPanels, bytes(rows * NR), dkSum, headDim, true);
        pack(rightPanels, dout + at, qWidth, false, headDim, rows, NR);
        pack(sPanels, scores, wide, false, keys, rows, MR);
        multiplyPanels(keys, headDim, rows, sPanels, rightPanels, bytes(rows * NR), dv + kvAt, kvWidth, true);
      }
    }
    rotate(dk + kvAt, kvWidth, dkSum, headDim, table, 0, n, headDim, -1);
  }
}
