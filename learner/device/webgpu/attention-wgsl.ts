/**
 * WGSL of causal attention: one thread a query (or a key, for dK and dV), the other side staged through workgroup memory a tile at a
 * time with a running softmax, as in FlashAttention. Queries and keys come in already rotated.
 */
import { GROUP, perElement } from './wgsl.ts';

/** Rows of the other side in workgroup memory: two tiles of at most 8 KB each. */
const tileRows = (headDim: number): number => Math.max(1, Math.min(32, Math.floor(2048 / headDim)));

/** Sequence, head and block of rows of this workgroup; `count` heads. Sets first, n, block and returns past the sequence's end. */
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

const tiles = (headDim: number): string => `
const HD = ${headDim}u;
const TILE = ${tileRows(headDim)}u;
var<workgroup> tile_a: array<f32, HD * TILE>;
var<workgroup> tile_b: array<f32, HD * TILE>;
`;

/** Loads rows from0 … of two [tokens, count * HD] buffers into the tiles. */
const stage = (a: string, b: string, from: string, head: string, count: string): string => `
    workgroupBarrier();
    for (var e = t; e < TILE * HD; e += ${GROUP}u) {
      let r = ${from} + e / HD;
      if (r < n) {
        let at = ((first + r) * ${count} + ${head}) * HD + e % HD;
        tile_a[e] = ${a}[at];
        tile_b[e] = ${b}[at];
      }
    }`;

/** Rotates every pair of x by its token's position within its sequence, into y; direction -1 undoes it. */
export const ROTATE = perElement(
  'u.size',
  `  let half = u.head_dim / 2u;
  let pair = i % half;
  let row = i / half;
  let token = row / u.heads;
  var low = 0u;
  var high = u.sequences;
  while (low + 1u < high) {
    let middle = (low + high) / 2u;
    if (u32(offsets[middle]) <= token) { low = middle; } else { high = middle; }
  }
  let angle = (token - u32(offsets[low])) * u.head_dim + pair;
  let at = row * u.head_dim + pair;
  let cosine = rotary[angle];
  let sine = u.direction * rotary[angle + half];
  let a = x[at];
  let b = x[at + half];
  y[at] = a * cosine - b * sine;
  y[at + half] = b * cosine + a * sine;`,
);

export const forward = (headDim: number): string => `${tiles(headDim)}
${place('u.heads')}
  let kv_head = head / (u.heads / u.kv_heads);
  let i = block + t;
  let live = i < n;
  let at = ((first + i) * u.heads + head) * HD;
  var query: array<f32, HD>;
  var sums: array<f32, HD>;
  for (var d = 0u; d < HD; d++) {
    sums[d] = 0.0;
    if (live) { query[d] = q[at + d]; }
  }
  var top = -3e38;
  var total = 0.0;
  for (var j0 = 0u; j0 < min(n, block + ${GROUP}u); j0 += TILE) {
    ${stage('k', 'v', 'j0', 'kv_head', 'u.kv_heads')}
    workgroupBarrier();
    if (live) {
      for (var j = j0; j < min(j0 + TILE, i + 1u); j++) {
        let r = (j - j0) * HD;
        var score = 0.0;
        for (var d = 0u; d < HD; d++) { score += query[d] * tile_a[r + d]; }
        score *= u.scale;
        let higher = max(top, score);
        let shrink = exp(top - higher);
        let p = exp(score - higher);
        total = total * shrink + p;
        top = higher;
        for (var d = 0u; d < HD; d++) { sums[d] = sums[d] * shrink + p * tile_b[r + d]; }
      }
    }
  }
  if (live) {
    log_sum[(first + i) * u.heads + head] = top + log(total);
    for (var d = 0u; d < HD; d++) { y[at + d] = sums[d] / total; }
  }
}`;

/** stats [tokens, heads, 2]: the log-sum, and the dot product of the output with its gradient. */
export const STATS = perElement(
  'u.size',
  `  var dot = 0.0;
  for (var d = 0u; d < u.head_dim; d++) { dot += dy[i * u.head_dim + d] * y[i * u.head_dim + d]; }
  stats[2u * i] = log_sum[i];
  stats[2u * i + 1u] = dot;`,
);

export const queryGrad = (headDim: number): string => `${tiles(headDim)}
${place('u.heads')}
  let kv_head = head / (u.heads / u.kv_heads);
  let i = block + t;
  let live = i < n;
  let row = (first + i) * u.heads + head;
  var query: array<f32, HD>;
  var upstream: array<f32, HD>;
  var sums: array<f32, HD>;
  var shift = 0.0;
  var dot = 0.0;
  for (var d = 0u; d < HD; d++) {
    sums[d] = 0.0;
    if (live) {
      query[d] = q[row * HD + d];
      upstream[d] = dy[row * HD + d];
    }
  }
  if (live) {
    shift = stats[2u * row];
    dot = stats[2u * row + 1u];
  }
  for (var j0 = 0u; j0 < min(n, block + ${GROUP}u); j0 += TILE) {
    ${stage('k', 'v', 'j0', 'kv_head', 'u.kv_heads')}
    workgroupBarrier();
    if (live) {
      for (var j = j0; j < min(j0 + TILE, i + 1u); j++) {
        let r = (j - j0) * HD;
        var score = 0.0;
        var dp = 0.0;
        for (var d = 0u; d < HD; d++) {
          score += query[d] * tile_a[r + d];
          dp += upstream[d] * tile_b[r + d];
        }
        let ds = exp(score * u.scale - shift) * (dp - dot) * u.scale;
        for (var d = 0u; d < HD; d++) { sums[d] += ds * tile_a[r + d]; }
      }
    }
  }
  if (live) { for (var d = 0u; d < HD; d++) { dq[row * HD + d] = sums[d]; } }
}`;

export const keyValueGrad = (headDim: number): string => `${tiles(headDim)}
var<workgroup> tile_stats: array<f32, 2u * TILE>;
${place('u.kv_heads')}
  let queries = u.heads / u.kv_heads;
  let j = block + t;
  let live = j < n;
  let at = ((first + j) * u.kv_heads + head) * HD;
  var key: array<f32, HD>;
  var value: array<f32, HD>;
  var key_sums: array<f32, HD>;
  var value_sums: array<f32, HD>;
  for (var d = 0u; d < HD; d++) {
    key_sums[d] = 0.0;
    value_sums[d] = 0.0;
    if (live) {
      key[d] = k[at + d];
      value[d] = v[at + d];
    }
  }
  for (var h = head * queries; h < (head + 1u) * queries; h++) {
    for (var i0 = (block / TILE) * TILE; i0 < n; i0 += TILE) {
      ${stage('q', 'dy', 'i0', 'h', 'u.heads')}
      for (var e = t; e < 2u * TILE; e += ${GROUP}u) {
        if (i0 + e / 2u < n) { tile_stats[e] = stats[2u * ((first + i0 + e / 2u) * u.heads + h) + e % 2u]; }
      }
      workgroupBarrier();
      if (live) {
        for (var i = max(i0, j); i < min(i0 + TILE, n); i++) {
          let r = (i - i0) * HD;
          var score = 0.0;
          var dp = 0.0;
          for (var d = 0u; d < HD; d++) {
            score += tile_a[r + d] * key[d];
            dp += tile_b[r + d] * value[d];
          }
          let p = exp(score * u.scale - tile_stats[2u * (i - i0)]);
          let ds = p * (dp - tile_stats[2u * (i - i0) + 1u]) * u.scale;
          for (var d = 0u; d < HD; d++) {
            key_sums[d] += ds * tile_a[r + d];
            value_sums[d] += p * tile_b[r + d];
          }
        }
      }
    }
  }
  if (live) {
    for (var d = 0u; d < HD; d++) {
      dk[at + d] = key_sums[d];
      dv[at + d] = value_sums[d];
    }
  }
}`;
