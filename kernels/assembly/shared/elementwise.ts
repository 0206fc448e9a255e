/** Element-wise kernels over flat arrays. Buffers are padded, so the last vector may run past the end. */
import { exp4, horizontalSum, madd, share } from './vector';

/** y = s * x + t * y; y is not read where t = 0. */
export function scaleAdd(n: i32, x: usize, y: usize, s: f32, t: f32, part: i32, parts: i32): void {
  const end = (<usize>share(n, 4, part + 1, parts)) << 2;
  const sv = f32x4.splat(s);
  const tv = f32x4.splat(t);
  for (let i = (<usize>share(n, 4, part, parts)) << 2; i < end; i += 16) {
    const scaled = f32x4.mul(sv, v128.load(x + i));
    v128.store(y + i, t == 0 ? scaled : f32x4.add(scaled, f32x4.mul(tv, v128.load(y + i))));
  }
}

/** y = a + b */
export function add(n: i32, a: usize, b: usize, y: usize, part: i32, parts: i32): void {
  const end = (<usize>share(n, 4, part + 1, parts)) << 2;
  for (let i = (<usize>share(n, 4, part, parts)) << 2; i < end; i += 16) {
    v128.store(y + i, f32x4.add(v128.load(a + i), v128.load(b + i)));
  }
}

/** y = silu(gate) * up */
export function swiGlu(n: i32, gate: usize, up: usize, y: usize, part: i32, parts: i32): void {
  const one = f32x4.splat(1);
  const end = (<usize>share(n, 4, part + 1, parts)) << 2;
  for (let i = (<usize>share(n, 4, part, parts)) << 2; i < end; i += 16) {
    const g = v128.load(gate + i);
    const silu = f32x4.div(g, f32x4.add(one, exp4(f32x4.neg(g))));
    v128.store(y + i, f32x4.mul(silu, v128.load(up + i)));
  }
}

/** With s = sigmoid(g): dup = dy * g * s, dgate = dy * up * (s + g * s * (1 - s)). */
export function swiGluGrad(
  n: i32,
  gate: usize,
  up: usize,
  dy: usize,
  dgate: usize,
  dup: usize,
  part: i32,
  parts: i32,
): void {
  const one = f32x4.splat(1);
  const end = (<usize>share(n, 4, part + 1, parts)) << 2;
  for (let i = (<usize>share(n, 4, part, parts)) << 2; i < end; i += 16) {
    const g = v128.load(gate + i);
    const d = v128.load(dy + i);
    const s = f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(g))));
    const silu = f32x4.mul(g, s);
    v128.store(dup + i, f32x4.mul(d, silu));
    v128.store(dgate + i, f32x4.mul(f32x4.mul(d, v128.load(up + i)), madd(silu, f32x4.sub(one, s), s)));
  }
}

// 2 sqrt(2 / pi), and 0.044715 times that.
const GELU: f32 = 1.5957691216057308;
const GELU_CUBE: f32 = 0.0713548162726;

/** y = gelu(gate) * up. GELU by tanh is g * sigmoid(2 sqrt(2 / pi) (g + 0.044715 g^3)). */
export function geGlu(n: i32, gate: usize, up: usize, y: usize, part: i32, parts: i32): void {
  const one = f32x4.splat(1);
  const end = (<usize>share(n, 4, part + 1, parts)) << 2;
  for (let i = (<usize>share(n, 4, part, parts)) << 2; i < end; i += 16) {
    const g = v128.load(gate + i);
    const z = f32x4.mul(g, madd(f32x4.splat(GELU_CUBE), f32x4.mul(g, g), f32x4.splat(GELU)));
    const gelu = f32x4.div(g, f32x4.add(one, exp4(f32x4.neg(z))));
    v128.store(y + i, f32x4.mul(gelu, v128.load(up + i)));
  }
}

/** With s = sigmoid(z), z as in `geGlu`: dup = dy * g * s, dgate = dy * up * (s + g * s * (1 - s) * dz / dg). */
export function geGluGrad(
  n: i32,
  gate: usize,
  up: usize,
  dy: usize,
  dgate: usize,
  dup: usize,
  part: i32,
  parts: i32,
): void {
  const one = f32x4.splat(1);
  const end = (<usize>share(n, 4, part + 1, parts)) << 2;
  for (let i = (<usize>share(n, 4, part, parts)) << 2; i < end; i += 16) {
    const g = v128.load(gate + i);
    const d = v128.load(dy + i);
    const square = f32x4.mul(g, g);
    const z = f32x4.mul(g, madd(f32x4.splat(GELU_CUBE), square, f32x4.splat(GELU)));
    const s = f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(z))));
    const gelu = f32x4.mul(g, s);
    const slope = madd(f32x4.splat(3 * GELU_CUBE), square, f32x4.splat(GELU));
    v128.store(dup + i, f32x4.mul(d, gelu));
    const dgelu = madd(f32x4.mul(gelu, f32x4.sub(one, s)), slope, s);
    v128.store(dgate + i, f32x4.mul(f32x4.mul(d, v128.load(up + i)), dgelu));
  }
}

/** Writes the sum of squares of this share to out[part]. */
export function sumSquares(n: i32, x: usize, out: usize, part: i32, parts: i32): void {
  const end = (<usize>share(n, 4, part + 1, parts)) << 2;
  let i = (<usize>share(n, 4, part, parts)) << 2;
  let sum = f32x4.splat(0);
  for (; i + 16 <= end; i += 16) {
    const v = v128.load(x + i);
    sum = madd(v, v, sum);
  }
  let tail: f32 = 0;
  for (; i < end; i += 4) {
    const v = load<f32>(x + i);
    tail += v * v;
  }
  store<f32>(out + ((<usize>part) << 2), horizontalSum(sum) + tail);
}

/**
 * AdamW with decoupled decay, in place on p, m, v. correct1 = 1 / (1 - beta1^t), correct2 = 1 / (1 - beta2^t); `scale` multiplies
 * the gradient (clipping).
 */
export function adamW(
  n: i32,
  p: usize,
  m: usize,
  v: usize,
  g: usize,
  lr: f32,
  beta1: f32,
  beta2: f32,
  eps: f32,
  decay: f32,
  correct1: f32,
  correct2: f32,
  scale: f32,
  part: i32,
  parts: i32,
): void {
  const b1 = f32x4.splat(beta1);
  const b2 = f32x4.splat(beta2);
  const d1 = f32x4.splat(<f32>1 - beta1);
  const d2 = f32x4.splat(<f32>1 - beta2);
  const rate = f32x4.splat(-lr * correct1);
  const c2 = f32x4.splat(correct2);
  const epsilon = f32x4.splat(eps);
  const keep = f32x4.splat(<f32>1 - lr * decay);
  const s = f32x4.splat(scale);
  const end = (<usize>share(n, 4, part + 1, parts)) << 2;
  for (let i = (<usize>share(n, 4, part, parts)) << 2; i < end; i += 16) {
    const grad = f32x4.mul(v128.load(g + i), s);
    const mean = madd(d1, grad, f32x4.mul(b1, v128.load(m + i)));
    const square = madd(d2, f32x4.mul(grad, grad), f32x4.mul(b2, v128.load(v + i)));
    v128.store(m + i, mean);
    v128.store(v + i, square);
    const direction = f32x4.div(mean, f32x4.add(f32x4.sqrt(f32x4.mul(square, c2)), epsilon));
    v128.store(p + i, madd(rate, direction, f32x4.mul(keep, v128.load(p + i))));
  }
}
