/**
 * Matrix products on the GPU: square tiles of C are held in registers, tiles of A and B in workgroup memory. Offsets and accumulation
 * serve the fused ops, and several products share a dispatch, since a small model's step takes as long as its dispatches are many. A small
 * C over a long inner dimension (a weight's gradient) is split along that dimension and summed in order.
 */
import type * as tf from '../../tfjs.ts';
import type { GpuBackend } from './gpu-backend.ts';
import { GROUP, once, perElement } from './wgsl.ts';

/** op(A) [m, k] times op(B) [k, n]. */
export interface Factors {
  k: number;
  a: tf.TensorInfo;
  b: tf.TensorInfo;
  /** First element that is used. */
  aOffset?: number;
  bOffset?: number;
}

/** C [m, n], the sum of some products. */
export interface Result {
  m: number;
  n: number;
  c: tf.TensorInfo;
  cOffset?: number;
  /** Added to C, from its first element on. */
  addend?: tf.TensorInfo | undefined;
  factors: readonly Factors[];
}

export interface ProductOptions {
  transposeA?: boolean;
  transposeB?: boolean;
  /** Adds to C instead of overwriting it. */
  add?: boolean;
  /** Values of C per thread along each side; default: 8 where that fills the GPU, else 4. */
  per?: 4 | 8;
}

export type Product = Omit<Result, 'factors'> & Factors & ProductOptions;

/** Threads along each side of a workgroup. */
const SIDE = 16;
/** Depth of the tiles in workgroup memory. */
const DEPTH = 16;
/** Workgroups below which a large GPU is not filled. */
const FILL = 256;

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const lines = (n: number, line: (i: number) => string): string => range(n).map(line).join('\n');

/** One of the operands of a product: its buffer, the uniforms of its offset and of its outer side, and where its tile begins there. */
interface Operand {
  readonly tile: 'a' | 'b';
  readonly buffer: string;
  readonly offset: string;
  readonly side: string;
  readonly first: 'i0' | 'j0';
  /** Neighbouring elements in memory are neighbours along the outer side. */
  readonly transposed: boolean;
}

/**
 * Tile of an operand: four neighbouring i of op(X) at one p, into tile_x[p][i / 4]; zeros past the edges. Neighbouring threads read
 * neighbouring addresses, and the rows' padding spreads their writes over the memory banks.
 */
function loadTile(
  { tile: name, buffer, offset, side, first, transposed }: Operand,
  tile: number,
  k: string,
): string {
  const groups = tile / 4;
  const [g, p] = transposed ? [`at % ${groups}u`, `at / ${groups}u`] : [`at / ${DEPTH}u`, `at % ${DEPTH}u`];
  const index = transposed ? `(p0 + p) * u.${side} + i` : `i * u.${k} + p0 + p`;
  const element = (q: number): string => `
        {
          let i = ${first} + 4u * g + ${q}u;
          let inside = i < u.${side} && p0 + p < last;
          four[${q}] = select(0.0, ${buffer}_at(select(0u, u.${offset} + ${index}, inside)), inside);
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

/** What the source depends on besides the options: the names of the buffers of each result and of its factors. */
interface Names {
  readonly c: string;
  readonly addend?: string | undefined;
  readonly factors: readonly { readonly a: string; readonly b: string }[];
}

interface SourceOptions {
  readonly per: 4 | 8;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly add: boolean;
}

/**
 * Each thread computes `per` x `per` values of one result, in blocks of 4 x 4. Slice s of `slices` takes its part of k and writes at
 * s * m * n. The workgroups of the results lie end to end.
 */
const sourceOf = once((results: readonly Names[], { per, transposeA, transposeB, add }: SourceOptions) => {
  const tile = SIDE * per;
  const blocks = per / 4;
  const stride = tile / 4 + 1;
  const accumulate = (r: number, f: number, { a, b }: Names['factors'][number]): string => {
    const k = `k_${r}_${f}`;
    const left = { tile: 'a', buffer: a, offset: `a_offset_${r}_${f}`, side: `m_${r}`, first: 'i0' } as const;
    const right = {
      tile: 'b',
      buffer: b,
      offset: `b_offset_${r}_${f}`,
      side: `n_${r}`,
      first: 'j0',
    } as const;
    return `
  {
  let depth = ((u.${k} + u.slices - 1u) / u.slices + ${DEPTH - 1}u) / ${DEPTH}u * ${DEPTH}u;
  let last = min(u.${k}, (slice + 1u) * depth);
  for (var p0 = slice * depth; p0 < last; p0 += ${DEPTH}u) {
    workgroupBarrier();
${loadTile({ ...left, transposed: transposeA }, tile, k)}
${loadTile({ ...right, transposed: !transposeB }, tile, k)}
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
  }`;
  };
  const store = (r: number, { c, addend }: Names, i: number, v: number): string => {
    const value = (q: number): string => `
      if (column + ${q}u < u.n_${r}) { ${c}[at + ${q}u] = ${add ? `${c}[at + ${q}u] + ` : ''}${addend ? `${addend}[row * u.n_${r} + column + ${q}u] + ` : ''}sum_${i}_${v}[${q}]; }`;
    return `
  {
    let row = i0 + ${(i >> 2) * 4 * SIDE}u + (t / ${SIDE}u) * 4u + ${i & 3}u;
    let column = j0 + ${v * 4 * SIDE}u + (t % ${SIDE}u) * 4u;
    let at = u.c_offset_${r} + slice * u.m_${r} * u.n_${r} + row * u.n_${r} + column;
    if (row < u.m_${r}) {${range(4).map(value).join('')}
    }
  }`;
  };
  const result = (names: Names, r: number): string => `
  if (group < u.end_${r}) {
  let own = group - ${r === 0 ? '0u' : `u.end_${r - 1}`};
  let columns = (u.n_${r} + ${tile - 1}u) / ${tile}u;
  let tiles = columns * ((u.m_${r} + ${tile - 1}u) / ${tile}u);
  let slice = own / tiles;
  let i0 = ((own % tiles) / columns) * ${tile}u;
  let j0 = (own % columns) * ${tile}u;
${lines(per, (i) => lines(blocks, (v) => `  var sum_${i}_${v} = vec4f();`))}
${names.factors.map((factor, f) => accumulate(r, f, factor)).join('')}
${lines(per, (i) => lines(blocks, (v) => store(r, names, i, v)))}
  return;
  }`;
  return `
var<workgroup> tile_a: array<vec4f, ${stride * DEPTH}>;
var<workgroup> tile_b: array<vec4f, ${stride * DEPTH}>;
@compute @workgroup_size(${SIDE * SIDE}) fn main(
  @builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) t: u32) {
  let group = id.y * grid.x + id.x;
${results.map(result).join('')}
}`;
});

/** Sums the slices of each result in order; the results' elements, and their slices in `partial`, lie end to end. */
const SUM_SLICES = once((addends: readonly (string | undefined)[], add: boolean) =>
  perElement(
    `u.end_${addends.length - 1}`,
    addends
      .map((addend, r) => {
        const [first, at] = [r === 0 ? '0u' : `u.end_${r - 1}`, `c_${r}[u.c_offset_${r} + own]`];
        return `  if (i < u.end_${r}) {
    let own = i - ${first};
    let size = u.end_${r} - ${first};
    var sum = ${add ? at : '0.0'}${addend ? ` + ${addend}[own]` : ''};
    for (var s = 0u; s < u.slices; s++) { sum += partial[u.slices * ${first} + s * size + own]; }
    ${at} = sum;
    return;
  }`;
      })
      .join('\n'),
  ),
);

/** Running totals: of [2, 3] they are [2, 5]. */
export function totals(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}

/** `<prefix>0`, `<prefix>1`, … for some values. */
export const named = <T>(prefix: string, values: readonly T[]): Record<string, T> =>
  Object.fromEntries(values.map((value, i) => [`${prefix}${i}`, value]));

/** Several products in one dispatch, and a second one where they are split along their inner dimension. All matrices are contiguous. */
export function multiplyAll(
  backend: GpuBackend,
  results: readonly Result[],
  { transposeA = false, transposeB = false, add = false, per: wanted }: ProductOptions,
): void {
  const tilesOf = (per: number): number[] =>
    results.map(({ m, n }) => Math.ceil(m / (SIDE * per)) * Math.ceil(n / (SIDE * per)));
  // Large tiles reuse more, small ones fill the machine.
  const per = wanted ?? (totals(tilesOf(8)).at(-1)! >= FILL ? 8 : 4);
  const tiles = tilesOf(per);
  // A result that is a sum of products is not split: its inner dimensions are those of layers.
  const depth = Math.min(...results.map(({ factors }) => (factors.length > 1 ? 0 : factors[0]!.k)));
  const slices = Math.max(1, Math.min(Math.floor(FILL / totals(tiles).at(-1)!), Math.floor(depth / 256)));
  const sizes = results.map(({ m, n }) => m * n);
  const partial = slices > 1 ? backend.output([slices * totals(sizes).at(-1)!]) : undefined;

  // Each tensor is bound once, under one name.
  const addends = results.map(({ addend }, r) => addend && `addend_${r}`);
  const added = Object.fromEntries(
    results.flatMap(({ addend }, r) => (addend ? [[`addend_${r}`, addend]] : [])),
  );
  const inputs = new Map<tf.TensorInfo, string>();
  const nameOf = (t: tf.TensorInfo): string => {
    if (!inputs.has(t)) inputs.set(t, `x_${inputs.size}`);
    return inputs.get(t)!;
  };
  const names = results.map(({ factors }, r) => ({
    c: partial ? 'partial' : `c_${r}`,
    addend: partial ? undefined : addends[r],
    factors: factors.map(({ a, b }) => ({ a: nameOf(a), b: nameOf(b) })),
  }));
  const uniforms: Record<string, number> = { slices };
  const ends = totals(tiles.map((count) => count * slices));
  for (const [r, { m, n, cOffset = 0, factors }] of results.entries()) {
    const before = slices * (totals(sizes)[r]! - sizes[r]!);
    Object.assign(uniforms, { [`m_${r}`]: m, [`n_${r}`]: n, [`end_${r}`]: ends[r]! });
    uniforms[`c_offset_${r}`] = partial ? before : cOffset;
    for (const [f, { k, aOffset = 0, bOffset = 0 }] of factors.entries())
      Object.assign(uniforms, {
        [`k_${r}_${f}`]: k,
        [`a_offset_${r}_${f}`]: aOffset,
        [`b_offset_${r}_${f}`]: bOffset,
      });
  }
  const outputs = named(
    'c_',
    results.map(({ c }) => c),
  );
  backend.dispatch({
    source: sourceOf(names, { per, transposeA, transposeB, add: add && !partial }),
    outputs: partial ? { partial } : outputs,
    inputs: {
      ...Object.fromEntries([...inputs].map(([tensor, name]) => [name, tensor])),
      ...(partial ? {} : added),
    },
    read: [...inputs.values()],
    uniforms,
    groups: ends.at(-1)!,
  });
  if (!partial) return;
  const size = totals(sizes).at(-1)!;
  backend.dispatch({
    source: SUM_SLICES(addends, add),
    outputs,
    inputs: { partial, ...added },
    uniforms: {
      slices,
      ...named('end_', totals(sizes)),
      ...named(
        'c_offset_',
        results.map(({ cOffset = 0 }) => cOffset),
      ),
    },
    groups: Math.ceil(size / GROUP),
  });
  backend.disposeData(partial.dataId);
}

/** C[m, n] (+)= op(A) op(B), all contiguous. */
export function multiply(backend: GpuBackend, product: Product): void {
  const { m, n, c, cOffset = 0, k, a, b, aOffset = 0, bOffset = 0, ...options } = product;
  multiplyAll(backend, [{ m, n, c, cOffset, factors: [{ k, a, b, aOffset, bOffset }] }], options);
}
