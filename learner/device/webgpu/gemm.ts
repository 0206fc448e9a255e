/**
 * Matrix products on the GPU: square tiles of C are held in registers, tiles of A and B in workgroup memory. Offsets and accumulation
 * serve the fused ops. A small C over a long inner dimension (a weight's gradient) is split along that dimension and summed in order.
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
  /** Values of C per thread along each side; default: 8 where that fills the GPU, else 4. */
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

/**
 * Tile of an operand: four neighbouring i of op(X) at one p, into tile_x[p][i / 4]; zeros past the edges. Neighbouring threads read
 * neighbouring addresses, and the rows' padding spreads their writes over the memory banks.
 */
function loadTile(
  name: 'a' | 'b',
  side: 'm' | 'n',
  first: string,
  tile: number,
  transposed: boolean,
): string {
  const groups = tile / 4;
  const [g, p] = transposed ? [`at % ${groups}u`, `at / ${groups}u`] : [`at / ${DEPTH}u`, `at % ${DEPTH}u`];
  const index = transposed ? `(p0 + p) * u.${side} + i` : `i * u.k + p0 + p`;
  const element = (q: number): string => `
        {
          let i = ${first} + 4u * g + ${q}u;
          let inside = i < u.${side} && p0 + p < last;
          four[${q}] = select(0.0, ${name}[select(0u, u.${name}_offset + ${index}, inside)], inside);
        }`;
  return `
    for (var e = 0u; e < ${(groups * DEPTH) / (SIDE * SIDE)}u; e++) {
      let at = t + e * ${SIDE * SIDE}u;
      let g = ${g};
      let p = ${p};
      var four: vec4f;${range(4).map(element).join('')}
      tile_${name}[p * ${groups + 1}u + g] = four;
    }`;
}

/** Each thread computes `per` x `per` values of C, in blocks of 4 x 4. Slice s of `slices` takes its part of k and writes at s * m * n. */
function source(per: 4 | 8, transposeA: boolean, transposeB: boolean, add: boolean): string {
  const tile = SIDE * per;
  const blocks = per / 4;
  const stride = tile / 4 + 1;
  const store = (i: number, v: number, q: number): string => `
      if (column + ${q}u < u.n) { c[at + ${q}u] = ${add ? `c[at + ${q}u] + ` : ''}sum_${i}_${v}[${q}]; }`;
  const storeFour = (i: number, v: number): string => `
  {
    let row = i0 + ${(i >> 2) * 4 * SIDE}u + (t / ${SIDE}u) * 4u + ${i & 3}u;
    let column = j0 + ${v * 4 * SIDE}u + (t % ${SIDE}u) * 4u;
    let at = u.c_offset + slice * u.m * u.n + row * u.n + column;
    if (row < u.m) {${range(4)
      .map((q) => store(i, v, q))
      .join('')}
    }
  }`;
  return `
var<workgroup> tile_a: array<vec4f, ${stride * DEPTH}>;
var<workgroup> tile_b: array<vec4f, ${stride * DEPTH}>;
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
${lines(per, (i) => lines(blocks, (v) => `  var sum_${i}_${v} = vec4f();`))}
  for (var p0 = slice * depth; p0 < last; p0 += ${DEPTH}u) {
    workgroupBarrier();
${loadTile('a', 'm', 'i0', tile, transposeA)}
${loadTile('b', 'n', 'j0', tile, !transposeB)}
    workgroupBarrier();
    for (var p = 0u; p < ${DEPTH}u; p++) {
${lines(
  blocks,
  (v) => `      let left_${v} = tile_a[p * ${stride}u + t / ${SIDE}u + ${v * SIDE}u];
      let right_${v} = tile_b[p * ${stride}u + t % ${SIDE}u + ${v * SIDE}u];`,
)}
${lines(per, (i) =>
  lines(
    blocks,
    (v) => `      sum_${i}_${v} = fma(vec4f(left_${i >> 2}[${i & 3}]), right_${v}, sum_${i}_${v});`,
  ),
)}
    }
  }
${lines(per, (i) => lines(blocks, (v) => storeFour(i, v)))}
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
