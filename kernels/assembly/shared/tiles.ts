/** Register tiles: the inner loops of a matrix product, in the shapes that fit the machine's registers. */
import { NR } from './scratch';
import { madd } from './vector';

/** C[4, 8] (+)= A panel [k][4] * B panel [k][8]; ldc in bytes. The fastest tile without fused multiply-add. */
function tile4x8(k: i32, a: usize, b: usize, c: usize, ldc: usize, add: bool): void {
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  const zero = f32x4.splat(0);
  let x00 = add ? v128.load(c) : zero;
  let x01 = add ? v128.load(c, 16) : zero;
  let x10 = add ? v128.load(c1) : zero;
  let x11 = add ? v128.load(c1, 16) : zero;
  let x20 = add ? v128.load(c2) : zero;
  let x21 = add ? v128.load(c2, 16) : zero;
  let x30 = add ? v128.load(c3) : zero;
  let x31 = add ? v128.load(c3, 16) : zero;
  for (const end = a + ((<usize>k) << 4); a < end; a += 16, b += 32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const s0 = v128.load_splat<f32>(a);
    x00 = madd(s0, b0, x00);
    x01 = madd(s0, b1, x01);
    const s1 = v128.load_splat<f32>(a, 4);
    x10 = madd(s1, b0, x10);
    x11 = madd(s1, b1, x11);
    const s2 = v128.load_splat<f32>(a, 8);
    x20 = madd(s2, b0, x20);
    x21 = madd(s2, b1, x21);
    const s3 = v128.load_splat<f32>(a, 12);
    x30 = madd(s3, b0, x30);
    x31 = madd(s3, b1, x31);
  }
  v128.store(c, x00);
  v128.store(c, x01, 16);
  v128.store(c1, x10);
  v128.store(c1, x11, 16);
  v128.store(c2, x20);
  v128.store(c2, x21, 16);
  v128.store(c3, x30);
  v128.store(c3, x31, 16);
}

/** C[6, 8] (+)= A panel [k][6] * B panel [k][8]; the fastest tile with fused multiply-add (15 of 16 registers). */
function tile6x8(k: i32, a: usize, b: usize, c: usize, ldc: usize, add: bool): void {
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  const c4 = c3 + ldc;
  const c5 = c4 + ldc;
  const zero = f32x4.splat(0);
  let x00 = add ? v128.load(c) : zero;
  let x01 = add ? v128.load(c, 16) : zero;
  let x10 = add ? v128.load(c1) : zero;
  let x11 = add ? v128.load(c1, 16) : zero;
  let x20 = add ? v128.load(c2) : zero;
  let x21 = add ? v128.load(c2, 16) : zero;
  let x30 = add ? v128.load(c3) : zero;
  let x31 = add ? v128.load(c3, 16) : zero;
  let x40 = add ? v128.load(c4) : zero;
  let x41 = add ? v128.load(c4, 16) : zero;
  let x50 = add ? v128.load(c5) : zero;
  let x51 = add ? v128.load(c5, 16) : zero;
  for (const end = a + <usize>k * 24; a < end; a += 24, b += 32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const s0 = v128.load_splat<f32>(a);
    x00 = madd(s0, b0, x00);
    x01 = madd(s0, b1, x01);
    const s1 = v128.load_splat<f32>(a, 4);
    x10 = madd(s1, b0, x10);
    x11 = madd(s1, b1, x11);
    const s2 = v128.load_splat<f32>(a, 8);
    x20 = madd(s2, b0, x20);
    x21 = madd(s2, b1, x21);
    const s3 = v128.load_splat<f32>(a, 12);
    x30 = madd(s3, b0, x30);
    x31 = madd(s3, b1, x31);
    const s4 = v128.load_splat<f32>(a, 16);
    x40 = madd(s4, b0, x40);
    x41 = madd(s4, b1, x41);
    const s5 = v128.load_splat<f32>(a, 20);
    x50 = madd(s5, b0, x50);
    x51 = madd(s5, b1, x51);
  }
  v128.store(c, x00);
  v128.store(c, x01, 16);
  v128.store(c1, x10);
  v128.store(c1, x11, 16);
  v128.store(c2, x20);
  v128.store(c2, x21, 16);
  v128.store(c3, x30);
  v128.store(c3, x31, 16);
  v128.store(c4, x40);
  v128.store(c4, x41, 16);
  v128.store(c5, x50);
  v128.store(c5, x51, 16);
}

/** C[4, 16] (+)= A panel [k][4] * B panel [k][16]; for engines that pair 128-bit operations into 256-bit ones. */
function tile4x16(k: i32, a: usize, b: usize, c: usize, ldc: usize, add: bool): void {
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  const zero = f32x4.splat(0);
  let x00 = zero;
  let x01 = zero;
  let x02 = zero;
  let x03 = zero;
  let x10 = zero;
  let x11 = zero;
  let x12 = zero;
  let x13 = zero;
  let x20 = zero;
  let x21 = zero;
  let x22 = zero;
  let x23 = zero;
  let x30 = zero;
  let x31 = zero;
  let x32 = zero;
  let x33 = zero;
  // There is one branch instead of sixteen choices, because V8 pairs the operations only in this form.
  if (add) {
    x00 = v128.load(c);
    x01 = v128.load(c, 16);
    x02 = v128.load(c, 32);
    x03 = v128.load(c, 48);
    x10 = v128.load(c1);
    x11 = v128.load(c1, 16);
    x12 = v128.load(c1, 32);
    x13 = v128.load(c1, 48);
    x20 = v128.load(c2);
    x21 = v128.load(c2, 16);
    x22 = v128.load(c2, 32);
    x23 = v128.load(c2, 48);
    x30 = v128.load(c3);
    x31 = v128.load(c3, 16);
    x32 = v128.load(c3, 32);
    x33 = v128.load(c3, 48);
  }
  for (const end = a + ((<usize>k) << 4); a < end; a += 16, b += 64) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(b, 32);
    const b3 = v128.load(b, 48);
    const s0 = v128.load_splat<f32>(a);
    x00 = madd(s0, b0, x00);
    x01 = madd(s0, b1, x01);
    x02 = madd(s0, b2, x02);
    x03 = madd(s0, b3, x03);
    const s1 = v128.load_splat<f32>(a, 4);
    x10 = madd(s1, b0, x10);
    x11 = madd(s1, b1, x11);
    x12 = madd(s1, b2, x12);
    x13 = madd(s1, b3, x13);
    const s2 = v128.load_splat<f32>(a, 8);
    x20 = madd(s2, b0, x20);
    x21 = madd(s2, b1, x21);
    x22 = madd(s2, b2, x22);
    x23 = madd(s2, b3, x23);
    const s3 = v128.load_splat<f32>(a, 12);
    x30 = madd(s3, b0, x30);
    x31 = madd(s3, b1, x31);
    x32 = madd(s3, b2, x32);
    x33 = madd(s3, b3, x33);
  }
  v128.store(c, x00);
  v128.store(c, x01, 16);
  v128.store(c, x02, 32);
  v128.store(c, x03, 48);
  v128.store(c1, x10);
  v128.store(c1, x11, 16);
  v128.store(c1, x12, 32);
  v128.store(c1, x13, 48);
  v128.store(c2, x20);
  v128.store(c2, x21, 16);
  v128.store(c2, x22, 32);
  v128.store(c2, x23, 48);
  v128.store(c3, x30);
  v128.store(c3, x31, 16);
  v128.store(c3, x32, 32);
  v128.store(c3, x33, 48);
}

/**
 * C[4, 16] (+)= A * B panel [k][16] for an A that lies where it was, not in a panel: its rows begin at a and at `row1` … `row3` bytes after it, and
 * `step` bytes lie between two values of a row. Packing A costs as much as a product by only 16 columns.
 */
export function looseTile4x16(
  k: i32,
  a: usize,
  row1: usize,
  row2: usize,
  row3: usize,
  step: usize,
  b: usize,
  c: usize,
  ldc: usize,
  add: bool,
): void {
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  const zero = f32x4.splat(0);
  let x00 = zero;
  let x01 = zero;
  let x02 = zero;
  let x03 = zero;
  let x10 = zero;
  let x11 = zero;
  let x12 = zero;
  let x13 = zero;
  let x20 = zero;
  let x21 = zero;
  let x22 = zero;
  let x23 = zero;
  let x30 = zero;
  let x31 = zero;
  let x32 = zero;
  let x33 = zero;
  // There is one branch instead of sixteen choices, because V8 pairs the operations only in this form.
  if (add) {
    x00 = v128.load(c);
    x01 = v128.load(c, 16);
    x02 = v128.load(c, 32);
    x03 = v128.load(c, 48);
    x10 = v128.load(c1);
    x11 = v128.load(c1, 16);
    x12 = v128.load(c1, 32);
    x13 = v128.load(c1, 48);
    x20 = v128.load(c2);
    x21 = v128.load(c2, 16);
    x22 = v128.load(c2, 32);
    x23 = v128.load(c2, 48);
    x30 = v128.load(c3);
    x31 = v128.load(c3, 16);
    x32 = v128.load(c3, 32);
    x33 = v128.load(c3, 48);
  }
  let a1 = a + row1;
  let a2 = a + row2;
  let a3 = a + row3;
  for (const end = b + ((<usize>k) << 6); b < end; b += 64, a += step, a1 += step, a2 += step, a3 += step) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(b, 32);
    const b3 = v128.load(b, 48);
    const s0 = v128.load_splat<f32>(a);
    x00 = madd(s0, b0, x00);
    x01 = madd(s0, b1, x01);
    x02 = madd(s0, b2, x02);
    x03 = madd(s0, b3, x03);
    const s1 = v128.load_splat<f32>(a1);
    x10 = madd(s1, b0, x10);
    x11 = madd(s1, b1, x11);
    x12 = madd(s1, b2, x12);
    x13 = madd(s1, b3, x13);
    const s2 = v128.load_splat<f32>(a2);
    x20 = madd(s2, b0, x20);
    x21 = madd(s2, b1, x21);
    x22 = madd(s2, b2, x22);
    x23 = madd(s2, b3, x23);
    const s3 = v128.load_splat<f32>(a3);
    x30 = madd(s3, b0, x30);
    x31 = madd(s3, b1, x31);
    x32 = madd(s3, b2, x32);
    x33 = madd(s3, b3, x33);
  }
  v128.store(c, x00);
  v128.store(c, x01, 16);
  v128.store(c, x02, 32);
  v128.store(c, x03, 48);
  v128.store(c1, x10);
  v128.store(c1, x11, 16);
  v128.store(c1, x12, 32);
  v128.store(c1, x13, 48);
  v128.store(c2, x20);
  v128.store(c2, x21, 16);
  v128.store(c2, x22, 32);
  v128.store(c2, x23, 48);
  v128.store(c3, x30);
  v128.store(c3, x31, 16);
  v128.store(c3, x32, 32);
  v128.store(c3, x33, 48);
}

/** C[MR, NR] (+)= A panel * B panel, by the shape in use; ldc in bytes. */
export function tile(k: i32, a: usize, b: usize, c: usize, ldc: usize, add: bool): void {
  if (NR == 16) tile4x16(k, a, b, c, ldc, add);
  else if (ASC_FEATURE_RELAXED_SIMD) tile6x8(k, a, b, c, ldc, add);
  else tile4x8(k, a, b, c, ldc, add);
}
