/** Kernels over the rows of a matrix [n, d]: lookup, bias, column sums, RMS normalisation. */
import { bytes, halfBytes, horizontalSum, madd, share, widen } from './vector';

/** y[r] = w[ids[r]] */
export function gatherRows(n: i32, d: i32, w: usize, ids: usize, y: usize, part: i32, parts: i32): void {
  const line = bytes(d);
  const end = share(n, 1, part + 1, parts);
  for (let r = share(n, 1, part, parts); r < end; r++) {
    memory.copy(y + <usize>r * line, w + <usize>load<i32>(ids + bytes(r)) * line, line);
  }
}

/** y[r] = w[ids[r]] of a bfloat16 w */
export function gatherHalfRows(n: i32, d: i32, w: usize, ids: usize, y: usize, part: i32, parts: i32): void {
  const line = bytes(d);
  const end = share(n, 1, part + 1, parts);
  for (let r = share(n, 1, part, parts); r < end; r++)
    widen(y + <usize>r * line, w + <usize>load<i32>(ids + bytes(r)) * halfBytes(d), d);
}

/** y = x, widened from bfloat16. */
export function widenValues(n: i32, x: usize, y: usize, part: i32, parts: i32): void {
  const from = share(n, 8, part, parts);
  widen(y + bytes(from), x + halfBytes(from), share(n, 8, part + 1, parts) - from);
}

/**
 * out[r] = sum of dy[order[j]] over j from starts[r] to starts[r+1]-1: the gradient of `gatherRows`, [rows, d]. Rows are shared
 * out; d is a multiple of 4.
 */
export function sumRows(
  rows: i32,
  d: i32,
  dy: usize,
  starts: usize,
  order: usize,
  out: usize,
  part: i32,
  parts: i32,
): void {
  const line = bytes(d);
  const last = share(rows, 1, part + 1, parts);
  for (let r = share(rows, 1, part, parts); r < last; r++) {
    const to = out + <usize>r * line;
    memory.fill(to, 0, line);
    const end = load<i32>(starts + bytes(r + 1));
    for (let j = load<i32>(starts + bytes(r)); j < end; j++) {
      const from = dy + <usize>load<i32>(order + bytes(j)) * line;
      for (let c: usize = 0; c < line; c += 16) {
        v128.store(to + c, f32x4.add(v128.load(to + c), v128.load(from + c)));
      }
    }
  }
}

/** y[r] = bias for every row; a matrix product is then added to it. */
export function fillRows(n: i32, d: i32, bias: usize, y: usize, part: i32, parts: i32): void {
  const line = bytes(d);
  const end = share(n, 1, part + 1, parts);
  for (let r = share(n, 1, part, parts); r < end; r++) memory.copy(y + <usize>r * line, bias, line);
}

/** out[j] = sum over rows of x[r, j]; columns are shared out. */
export function columnSums(n: i32, d: i32, x: usize, out: usize, part: i32, parts: i32): void {
  const line = bytes(d);
  const end = bytes(share(d, 4, part + 1, parts));
  let j = bytes(share(d, 4, part, parts));
  for (; j + 16 <= end; j += 16) {
    let sum = f32x4.splat(0);
    for (let r = 0, p = x + j; r < n; r++, p += line) sum = f32x4.add(sum, v128.load(p));
    v128.store(out + j, sum);
  }
  for (; j < end; j += 4) {
    let sum: f32 = 0;
    for (let r = 0, p = x + j; r < n; r++, p += line) sum += load<f32>(p);
    store<f32>(out + j, sum);
  }
}

/** y = x * k * gain with k = 1 / sqrt(mean(x^2) + eps), kept in inverse[n]; d is a multiple of 4. */
export function rmsNorm(
  n: i32,
  d: i32,
  x: usize,
  gain: usize,
  y: usize,
  inverse: usize,
  eps: f32,
  part: i32,
  parts: i32,
): void {
  const line = bytes(d);
  const end = share(n, 1, part + 1, parts);
  for (let r = share(n, 1, part, parts); r < end; r++) {
    const from = x + <usize>r * line;
    const to = y + <usize>r * line;
    let sum = f32x4.splat(0);
    for (let j: usize = 0; j < line; j += 16) {
      const v = v128.load(from + j);
      sum = madd(v, v, sum);
    }
    const k = <f32>1 / sqrt(horizontalSum(sum) / <f32>d + eps);
    store<f32>(inverse + bytes(r), k);
    const kv = f32x4.splat(k);
    for (let j: usize = 0; j < line; j += 16) {
      v128.store(to + j, f32x4.mul(f32x4.mul(v128.load(from + j), kv), v128.load(gain + j)));
    }
  }
}

/** dx = k * (g * dy - x * k^2 * mean(g * dy * x)); the gain's gradient of this share goes to dgain[part, d]. */
export function rmsNormGrad(
  n: i32,
  d: i32,
  x: usize,
  gain: usize,
  inverse: usize,
  dy: usize,
  dx: usize,
  dgain: usize,
  part: i32,
  parts: i32,
): void {
  const line = bytes(d);
  const sums = dgain + <usize>part * line;
  memory.fill(sums, 0, line);
  const end = share(n, 1, part + 1, parts);
  for (let r = share(n, 1, part, parts); r < end; r++) {
    const row = <usize>r * line;
    const k = load<f32>(inverse + bytes(r));
    const kv = f32x4.splat(k);
    let dot = f32x4.splat(0);
    for (let j: usize = 0; j < line; j += 16) {
      const product = f32x4.mul(v128.load(dy + row + j), v128.load(x + row + j));
      v128.store(sums + j, madd(product, kv, v128.load(sums + j)));
      dot = madd(product, v128.load(gain + j), dot);
    }
    const c = f32x4.splat((-horizontalSum(dot) * k * k * k) / <f32>d);
    for (let j: usize = 0; j < line; j += 16) {
      const direct = f32x4.mul(kv, f32x4.mul(v128.load(dy + row + j), v128.load(gain + j)));
      v128.store(dx + row + j, madd(v128.load(x + row + j), c, direct));
    }
  }
}
