/**
 * WGSL of causal attention. Each thread has one query (or one key, for dK and dV); the other side is staged through workgroup memory, one
 * tile at a time, with a running softmax as in FlashAttention. Queries and keys are already rotated.
 */
import { GROUP, once, perElement } from './wgsl.ts';

/** Number of rows of the other side in a tile. Workgroup memory holds two tiles of at most 8 KB each. */
const tileRows = (headDim: number): number => Math.max(1, Math.min(32, Math.floor(2048 / headDim)));

/** Finds the sequence, head and block of rows of a workgroup, for `count` heads; declares head, first, n and block. */
const place = (count: string): string => `@compute @workgroup_size(${GROUP}) fn main(
  @builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) t: u32) {
  let group = id.y * grid.x + id.x;
  let block = (group % u.blocks) * ${GROUP}u;
  let head = (group / u.blocks) % ${count};
  let sequence = group / u.blocks / ${count};
  if (sequence >= u.sequences) { return; }
  let first = u32(offsets[sequence]);
  let n = u32(offsets[sequence + 1u]) - first;
  if (block >= n) { return; }`;

/** Declares the two tiles; VECTORS is the number of vectors of four in a row of one head. */
const tiles = (headDim: number): string => `
const VECTORS = ${headDim / 4}u;
const TILE = ${tileRows(headDim)}u;
var<workgroup> tile_a: array<vec4f, VECTORS * TILE>;
var<workgroup> tile_b: array<vec4f, VECTORS * TILE>;
`;

/** Loads rows `from` … of two [tokens, count, headDim] buffers into the tiles. */
const stage = (a: string, b: string, from: string, head: string, count: string): string => `
    workgroupBarrier();
    for (var e = t; e < TILE * VECTORS; e += ${GROUP}u) {
      let r = ${from} + e / VECTORS;
      if (r < n) {
        let at = ((first + r) * ${count} + ${head}) * VECTORS + e % VECTORS;
        tile_a[e] = ${a}[at];
        tile_b[e] = ${b}[at];
      }
    }`;

/** Repeats a line for each vector of a row. The loop is unrolled, because arrays indexed in a loop may not stay in registers. */
const each = (headDim: number, line: (d: number) => string): string =>
  Array.from({ length: headDim / 4 }, (_, d) => line(d)).join('\n');

/** Rotates every pair of q and of k by its token's position within its sequence, into rotated_q and rotated_k; direction -1 undoes it. */
export const ROTATE = `
fn angle_of(token: u32, pair: u32) -> u32 {
  var low = 0u;
  var high = u.sequences;
  while (low + 1u < high) {
    let middle = (low + high) / 2u;
    if (u32(offsets[middle]) <= token) { low = middle; } else { high = middle; }
  }
  return (token - u32(offsets[low])) * u.head_dim + pair;
}
${perElement(
  'u.q_pairs + u.k_pairs',
  `  let half = u.head_dim / 2u;
  let is_query = i < u.q_pairs;
  let e = select(i - u.q_pairs, i, is_query);
  let pair = e % half;
  let row = e / half;
  let angle = angle_of(row / select(u.kv_heads, u.heads, is_query), pair);
  let at = row * u.head_dim + pair;
  let cosine = rotary[angle];
  let sine = u.direction * rotary[angle + half];
  if (is_query) {
    let a = q[at];
    let b = q[at + half];
    rotated_q[at] = a * cosine - b * sine;
    rotated_q[at + half] = b * cosine + a * sine;
  } else {
    let a = k[at];
    let b = k[at + half];
    rotated_k[at] = a * cosine - b * sine;
    rotated_k[at + half] = b * cosine + a * sine;
  }`,
)}`;

/** q, k, v, y are arrays of vectors. */
export const forward = once(
  (headDim: number) => `${tiles(headDim)}
${place('u.heads')}
  let kv_head = head / (u.heads / u.kv_heads);
  let i = block + t;
  let live = i < n;
  let least = i + 1u - min(i + 1u, u.window);
  let at = ((first + min(i, n - 1u)) * u.heads + head) * VECTORS;
${each(
  headDim,
  (d) => `  let q_${d} = q[at + ${d}u];
  var sum_${d} = vec4f();`,
)}
  var top = -3e38;
  var total = 0.0;
  for (var j0 = 0u; j0 < min(n, block + ${GROUP}u); j0 += TILE) {
    ${stage('k', 'v', 'j0', 'kv_head', 'u.kv_heads')}
    workgroupBarrier();
    if (live) {
      for (var j = max(j0, least); j < min(j0 + TILE, i + 1u); j++) {
        let r = (j - j0) * VECTORS;
        var score = 0.0;
${each(headDim, (d) => `        score += dot(q_${d}, tile_a[r + ${d}u]);`)}
        score *= u.scale;
        let higher = max(top, score);
        let shrink = exp(top - higher);
        let p = exp(score - higher);
        total = total * shrink + p;
        top = higher;
${each(headDim, (d) => `        sum_${d} = sum_${d} * shrink + p * tile_b[r + ${d}u];`)}
      }
    }
  }
  if (live) {
    log_sum[(first + i) * u.heads + head] = top + log(total);
${each(headDim, (d) => `    y[at + ${d}u] = sum_${d} / total;`)}
  }
}`,
);

/** stats [tokens, heads, 2]: the log-sum, and the dot product of the output with its gradient. */
export const STATS = perElement(
  'u.size',
  `  var sum = 0.0;
  for (var d = 0u; d < u.head_dim; d++) { sum += dy[i * u.head_dim + d] * y[i * u.head_dim + d]; }
  stats[2u * i] = log_sum[i];
  stats[2u * i + 1u] = sum;`,
);

/** q, k, v, dy, dq are arrays of vectors. */
export const queryGrad = once(
  (headDim: number) => `${tiles(headDim)}
${place('u.heads')}
  let kv_head = head / (u.heads / u.kv_heads);
  let i = block + t;
  let live = i < n;
  let least = i + 1u - min(i + 1u, u.window);
  let row = (first + min(i, n - 1u)) * u.heads + head;
  let at = row * VECTORS;
${each(
  headDim,
  (d) => `  let q_${d} = q[at + ${d}u];
  let dy_${d} = dy[at + ${d}u];
  var sum_${d} = vec4f();`,
)}
  let shift = stats[2u * row];
  let delta = stats[2u * row + 1u];
  for (var j0 = 0u; j0 < min(n, block + ${GROUP}u); j0 += TILE) {
    ${stage('k', 'v', 'j0', 'kv_head', 'u.kv_heads')}
    workgroupBarrier();
    if (live) {
      for (var j = max(j0, least); j < min(j0 + TILE, i + 1u); j++) {
        let r = (j - j0) * VECTORS;
        var score = 0.0;
        var dp = 0.0;
${each(
  headDim,
  (d) => `        score += dot(q_${d}, tile_a[r + ${d}u]);
        dp += dot(dy_${d}, tile_b[r + ${d}u]);`,
)}
        let ds = exp(score * u.scale - shift) * (dp - delta) * u.scale;
${each(headDim, (d) => `        sum_${d} += ds * tile_a[r + ${d}u];`)}
      }
    }
  }
  if (live) {
${each(headDim, (d) => `    dq[at + ${d}u] = sum_${d};`)}
  }
}`,
);

/** q, k, v, dy, dk, dv are arrays of vectors. */
export const keyValueGrad = once(
  (headDim: number) => `${tiles(headDim)}
var<workgroup> tile_stats: array<f32, 2u * TILE>;
${place('u.kv_heads')}
  let queries = u.heads / u.kv_heads;
  let j = block + t;
  let live = j < n;
  let at = ((first + min(j, n - 1u)) * u.kv_heads + head) * VECTORS;
${each(
  headDim,
  (d) => `  let k_${d} = k[at + ${d}u];
  let v_${d} = v[at + ${d}u];
  var dk_${d} = vec4f();
  var dv_${d} = vec4f();`,
)}
  for (var h = head * queries; h < (head + 1u) * queries; h++) {
    for (var i0 = (block / TILE) * TILE; i0 < n; i0 += TILE) {
      ${stage('q', 'dy', 'i0', 'h', 'u.heads')}
      for (var e = t; e < 2u * TILE; e += ${GROUP}u) {
        if (i0 + e / 2u < n) { tile_stats[e] = stats[2u * ((first + i0 + e / 2u) * u.heads + h) + e % 2u]; }
      }
      workgroupBarrier();
      if (live) {
        for (var i = max(i0, j); i < min(min(i0 + TILE, n), j + u.window); i++) {
          let r = (i - i0) * VECTORS;
          var score = 0.0;
          var dp = 0.0;
${each(
  headDim,
  (d) => `          score += dot(tile_a[r + ${d}u], k_${d});
          dp += dot(tile_b[r + ${d}u], v_${d});`,
)}
          let p = exp(score * u.scale - tile_stats[2u * (i - i0)]);
          let ds = p * (dp - tile_stats[2u * (i - i0) + 1u]) * u.scale;
${each(
  headDim,
  (d) => `          dk_${d} += ds * tile_a[r + ${d}u];
          dv_${d} += p * tile_b[r + ${d}u];`,
)}
        }
      }
    }
  }
  if (live) {
${each(
  headDim,
  (d) => `    dk[at + ${d}u] = dk_${d};
    dv[at + ${d}u] = dv_${d};`,
)}
  }
}`,
);
