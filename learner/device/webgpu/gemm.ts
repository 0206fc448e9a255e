/**
 * Matrix products on the GPU: square tiles of C in registers over tiles of A and B in workgroup memory. Offsets and accumulation make
 * it fit the fused ops; a short C over a long inner dimension (a weight's gradient) is split along it and summed in order.
 */
import type * as tf from '../../tfjs.ts';
import type { GpuBackend } from './gpu-backend.ts';
import { GROUP, perElement } from './wgsl.ts';

export interface Product {
  m: number;
  n: number;
  k: number;
  a: tf.TensorInfo;
  b: tf.TensorInfo;
  c: tf.TensorInfo;
  /** First element that is used. */
  aOffset?: number;
  bOffset?: number;
  cOffset?: number;
  transposeA?: boolean;
  transposeB?: boolean;
  /** Adds to C instead of overwriting it. */
  add?: boolean;
  /** Values of C a thread along each side; default: 8 where that fills the GPU, else 4. */
  per?: 4 | 8;
}

/** Threads along each side of a workgroup. */
const SIDE = 16;
/** Depth of the tiles in workgroup memory. */
const DEPTH = 16;
/** Workgroups below which a large GPU is not filled. */
const FILL = 256;

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const lines = (n: number, line: (i: number) => string): string => range(n).map(line).join('\n');

/** Tile of an operand: element (i, p) of op(X), i along m or n, into tile_x[p][i]; zeros past the edges. */
function loadTile(
  name: 'a' | 'b',
  side: 'm' | 'n',
  first: string,
  tile: number,
  transposed: boolean,
): string {
  const loads = (tile * DEPTH) / (SIDE * SIDE);
  // Neighbouring threads read neighbouring addresses.
  const [i, p] = transposed ? [`at % ${tile}u`, `at / ${tile}u`] : [`at / ${DEPTH}u`, `at % ${DEPTH}u`];
  const from = transposed ? `(p0 + p) * u.${side} + ${first} + i` : `(${first} + i) * u.k + p0 + p`;
  return `
    for (var e = 0u; e < ${loads}u; e++) {
      let at = t + e * ${SIDE * SIDE}u;
      let i = ${i};
      let p = ${p};
      let inside = ${first} + i < u.${side} && p0 + p < last;
      tile_${name}[p * ${tile}u + i] = select(0.0, ${name}[select(0u, u.${name}_offset + ${from}, inside)], inside);
    }`;
}

/** `per` x `per` values of C a thread, in vectors of four. Slice s of `slices` takes its part of k and writes at s * m * n. */
function source(per: 4 | 8, transposeA: boolean, transposeB: boolean, add: boolean): string {
  const tile = SIDE * per;
  const vectors = per / 4;
  const right = (v: number): string =>
    `vec4f(${range(4)
      .map((q) => `tile_b[p * ${tile}u + column + ${4 * v + q}u]`)
      .join(', ')})`;
  const stored = (i: number, j: number): string => `
  if (i0 + row + ${i}u < u.m && j0 + column + ${j}u < u.n) {
    let at = u.c_offset + slice * u.m * u.n + (i0 + row + ${i}u) * u.n + j0 + column + ${j}u;
    c[at] = ${add ? 'c[at] + ' : ''}sum_${i}_${j >> 2}[${j & 3}];
  }`;
  return `
var<workgroup> tile_a: array<f32, ${tile * DEPTH}>;
var<workgroup> tile_b: array<f32, ${tile * DEPTH}>;
@compute @workgroup_size(${SIDE * SIDE}) fn main(
  @builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) t: u32) {
  let group = id.y * grid.x + id.x;
  let tiles = u.columns * ((u.m + ${tile - 1}u) / ${tile}u);
  if (group >= tiles * u.slices) { return; }
  let slice = group / tiles;
  let i0 = ((group % tiles) / u.columns) * ${tile}u;
  let j0 = (group % u.columns) * ${tile}u;
  let depth = ((u.k + u.slices - 1u) / u.slices + ${DEPTH - 1}u) / ${DEPTH}u * ${DEPTH}u;
  let last = min(u.k, (slice + 1u) * depth);
  let row = (t / ${SIDE}u) * ${per}u;
  let column = (t % ${SIDE}u) * ${per}u;
${lines(per, (i) => lines(vectors, (v) => `  var sum_${i}_${v} = vec4f();`))}
  for (var p0 = slice * depth; p0 < last; p0 += ${DEPTH}u) {
    workgroupBarrier();
${loadTile('a', 'm', 'i0', tile, transposeA)}
${loadTile('b', 'n', 'j0', tile, !transposeB)}
    workgroupBarrier();
    for (var p = 0u; p < ${DEPTH}u; p++) {
${lines(vectors, (v) => `      let right_${v} = ${right(v)};`)}
${lines(
  per,
  (i) => `      let left_${i} = vec4f(tile_a[p * ${tile}u + row + ${i}u]);
${lines(vectors, (v) => `      sum_${i}_${v} = fma(left_${i}, right_${v}, sum_${i}_${v});`)}`,
)}
    }
  }
${lines(per, (i) => lines(per, (j) => stored(i, j)))}
}`;
}

const SUM_SLICES = (add: boolean): string =>
  perElement(
    'u.size',
    `  var sum = ${add ? 'c[u.c_offset + i]' : '0.0'};
  for (var s = 0u; s < u.slices; s++) { sum += partial[s * u.size + i]; }
  c[u.c_offset + i] = sum;`,
  );

/** C[m, n] (+)= op(A) op(B), all contiguous. */
export function multiply(backend: GpuBackend, product: Product): void {
  const { m, n, k, a, b, c, aOffset = 0, bOffset = 0, cOffset = 0 } = product;
  const { transposeA = false, transposeB = false, add = false } = product;
  const tilesOf = (per: number): number => Math.ceil(m / (SIDE * per)) * Math.ceil(n / (SIDE * per));
  // Large tiles reuse more, small ones fill the machine.
  const per = product.per ?? (tilesOf(8) >= FILL ? 8 : 4);
  const tiles = tilesOf(per);
  const slices = Math.max(1, Math.min(Math.floor(FILL / tiles), Math.floor(k / 256)));
  const columns = Math.ceil(n / (SIDE * per));
  const run = (into: tf.TensorInfo, offset: number, accumulate: boolean): void =>
    backend.dispatch({
      source: source(per, transposeA, transposeB, accumulate),
      outputs: { c: into },
      inputs: { a, b },
      uniforms: { m, n, k, columns, slices, a_offset: aOffset, b_offset: bOffset, c_offset: offset },
      groups: tiles * slices,
    });
  if (slices === 1) {
    run(c, cOffset, add);
    return;
  }
  const partial = backend.output([slices, m, n]);
  run(partial, 0, false);
  backend.dispatch({
    source: SUM_SLICES(add),
    outputs: { c },
    inputs: { partial },
    uniforms: { size: m * n, slices, c_offset: cOffset },
    groups: Math.ceil((m * n) / GROUP),
  });
  backend.disposeData(partial.dataId);
}
