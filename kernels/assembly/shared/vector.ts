/**
 * SIMD building blocks shared by the kernels: fused multiply-add where the build has it, horizontal sums, exp, and the split of
 * work into shares. AssemblyScript, not TypeScript: compiled to WebAssembly by `npm run build:kernels`.
 */

/** a * b + c, in one rounding when built with FUSED (and relaxed SIMD). */
export function madd(a: v128, b: v128, c: v128): v128 {
  if (FUSED) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(c, f32x4.mul(a, b));
}

/** Sum of the four lanes. */
export function horizontalSum(v: v128): f32 {
  const low = f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1);
  return low + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3));
}

/** Largest of the four lanes. */
export function horizontalMax(v: v128): f32 {
  const low = max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1));
  return max(low, max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)));
}

/** First item of share `part` of `parts` when `items` are dealt out in multiples of `unit`. */
export function share(items: i32, unit: i32, part: i32, parts: i32): i32 {
  const units = (items + unit - 1) / unit;
  return min(items, ((units * part) / parts) * unit);
}

/** Byte offset of an f32 or i32 index. */
export function bytes(index: i32): usize {
  return (<usize>index) << 2;
}

/** Byte offset of a bfloat16 index. */
export function halfBytes(index: i32): usize {
  return (<usize>index) << 1;
}

/** Widens n bfloat16 values to float32, which is exact: they are the upper halves. Nothing is read or written past the end. */
export function widen(to: usize, from: usize, n: i32): void {
  const whole = n & -8;
  let i = 0;
  for (; i < whole; i += 8, from += 16, to += 32) {
    const halves = v128.load(from);
    v128.store(to, i32x4.shl(i32x4.extend_low_i16x8_u(halves), 16));
    v128.store(to, i32x4.shl(i32x4.extend_high_i16x8_u(halves), 16), 16);
  }
  for (; i < n; i++, from += 2, to += 4) store<u32>(to, (<u32>load<u16>(from)) << 16);
}

// Constants of Cephes' expf: range, 1.5 * 2^23, log2(e), -ln 2 in two parts, polynomial. They are in memory, because V8 rebuilds a
// vector constant with several instructions at each use, while a splat load is one.
const EXP = memory.data<f32>([
  -87.3, 88.3, 12582912, 1.44269504088896341, 2.1219444e-4, -0.693359375, 1.98756915e-4, 1.3981999507e-3,
  8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1,
]);

/** exp of each lane, about 1 ulp; inputs are clamped to [-87.3, 88.3]. */
export function exp4(x0: v128): v128 {
  // pmin and pmax are one instruction each on x64, min and max are seven.
  const x = f32x4.pmin(f32x4.pmax(x0, v128.load_splat<f32>(EXP, 0)), v128.load_splat<f32>(EXP, 4));
  // Adding 1.5 * 2^23 leaves x * log2(e), rounded to an integer, in the low bits of the float.
  const round = v128.load_splat<f32>(EXP, 8);
  const shifted = madd(x, v128.load_splat<f32>(EXP, 12), round);
  const n = f32x4.sub(shifted, round);
  const r = madd(n, v128.load_splat<f32>(EXP, 16), madd(n, v128.load_splat<f32>(EXP, 20), x));
  let p = madd(v128.load_splat<f32>(EXP, 24), r, v128.load_splat<f32>(EXP, 28));
  p = madd(p, r, v128.load_splat<f32>(EXP, 32));
  p = madd(p, r, v128.load_splat<f32>(EXP, 36));
  p = madd(p, r, v128.load_splat<f32>(EXP, 40));
  p = madd(p, r, v128.load_splat<f32>(EXP, 44));
  p = madd(f32x4.mul(p, r), r, f32x4.add(r, v128.load_splat<f32>(EXP, 48)));
  return i32x4.add(p, i32x4.shl(shifted, 23));
}
