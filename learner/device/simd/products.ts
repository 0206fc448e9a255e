/** Matrix products on the CPU device: the fused projections, and tfjs' own matMul. */
import { LINEAR_COUNTS } from '../../ops/linear.ts';
import * as tf from '../../tfjs.ts';
import type { SimdBackend } from '../simd-backend.ts';
import { register, SIMD, sizeOf } from './register.ts';

/** Fewest values of C per share: with fewer, a further share costs more (each packs the shared operand again) than its balance gains. */
const SHARE_VALUES = 24 * 1024;
/** Multiply-adds per cycle of the register tiles. */
const PER_CYCLE = 8;

export interface Product {
  m: number;
  n: number;
  k: number;
  /** Addresses. */
  a: number;
  b: number;
  c: number;
  transposeA?: boolean;
  transposeB?: boolean;
  /** Adds to C instead of overwriting it. */
  add?: boolean;
  /** B is held as bfloat16. */
  half?: boolean;
}

/** C[m, n] (+)= op(A) op(B), all contiguous. */
export function multiply({ runtime }: SimdBackend, product: Product): void {
  const { m, n, k, a, b, c, transposeA = false, transposeB = false, add = false, half = false } = product;
  const lda = transposeA ? m : k;
  const ldb = transposeB ? k : n;
  const worth = Math.max(runtime.threads, Math.floor((m * n) / SHARE_VALUES));
  const args = [m, n, k, a, lda, Number(transposeA), b, ldb, Number(transposeB), c, n, Number(add)];
  runtime.runShares(
    half ? 'gemmHalf' : 'gemm',
    args,
    Math.min(runtime.shares((m * n * k) / PER_CYCLE), worth),
  );
}

/** A weight as the B of a product, in whichever form it is held. */
export const heldAt = (backend: SimdBackend, weight: tf.TensorInfo): Pick<Product, 'b' | 'half'> => ({
  b: backend.storedAddress(weight),
  half: backend.isHalf(weight),
});

/** A product by few columns, of parts of larger matrices: leading dimensions in values. */
interface ThinProduct extends Omit<Product, 'half'> {
  lda: number;
  ldb: number;
  ldc: number;
}

/** C[m, n] (+)= op(A) op(B) for an n of a few tiles at most. */
function multiplyThin({ runtime }: SimdBackend, product: ThinProduct): void {
  const { m, n, k, a, b, c, lda, ldb, ldc, transposeA = false, transposeB = false, add = false } = product;
  const args = [m, n, k, a, lda, Number(transposeA), b, ldb, Number(transposeB), c, ldc, Number(add)];
  runtime.run(runtime.wideTiles ? 'gemmThin' : 'gemm', args, (m * n * k) / PER_CYCLE);
}

function registerLinear(count: number): void {
  register(`Linear${count}`, ({ backend, inputs }) => {
    const { runtime } = backend;
    const x = inputs.x!;
    const [rows, width] = x.shape as [number, number];
    return Array.from({ length: count }, (_, i) => {
      const weight = inputs[`w${i}`]!;
      const bias = inputs[`b${i}`];
      const out = weight.shape[0]!;
      const y = backend.output([rows, out]);
      const c = backend.address(y);
      if (bias) runtime.run('fillRows', [rows, out, backend.address(bias), c], rows * out);
      multiply(backend, {
        ...{ m: rows, n: out, k: width, a: backend.address(x), ...heldAt(backend, weight), c },
        ...{ transposeB: true, add: bias !== undefined },
      });
      const residual = inputs[`r${i}`];
      if (residual) runtime.run('add', [rows * out, backend.address(residual), c, c], rows * out);
      return y;
    });
  });
  register(`Linear${count}Grad`, ({ backend, inputs }) => {
    const [rows] = inputs.dy0!.shape as [number];
    const width = inputs.w0!.shape[1]!;
    const dx = backend.output([rows, width]);
    const c = backend.address(dx);
    for (let i = 0; i < count; i++) {
      const weight = inputs[`w${i}`]!;
      const a = backend.address(inputs[`dy${i}`]!);
      const b = heldAt(backend, weight);
      multiply(backend, { m: rows, n: width, k: weight.shape[0]!, a, ...b, c, add: i > 0 });
    }
    return dx;
  });
  register(`Linear${count}WeightGrad`, ({ backend, inputs }) => {
    const x = inputs.x!;
    const [rows, width] = x.shape as [number, number];
    return Array.from({ length: count }, (_, i) => {
      const dy = inputs[`dy${i}`]!;
      const m = dy.shape[1]!;
      const dw = backend.output([m, width]);
      const [a, b, c] = [dy, x, dw].map((t) => backend.address(t)) as [number, number, number];
      multiply(backend, { m, n: width, k: rows, a, b, c, transposeA: true });
      return dw;
    });
  });
}

/** W + B A, which is a tenth of a product where there are hundreds of rows, and saves the passes over outputs that B (A x) takes. */
function adaptedWeight(
  backend: SimdBackend,
  weight: tf.TensorInfo,
  a: tf.TensorInfo,
  b: tf.TensorInfo,
): tf.TensorInfo {
  const [out, width] = weight.shape as [number, number];
  const sum = backend.output(weight.shape);
  const rank = a.shape[0]!;
  const from = [backend.storedAddress(weight), Number(backend.isHalf(weight))];
  const others = [b, a, sum].map((t) => backend.address(t));
  // A further share packs all of A again.
  const shares = Math.min(backend.runtime.threads, backend.runtime.shares((out * width * rank) / PER_CYCLE));
  backend.runtime.runShares('foldWeight', [out, width, rank, ...from, ...others], shares);
  return sum;
}

function registerAdaptedLinear(count: number): void {
  const kernel = (name: string) => tf.getKernel(name, SIMD)!.kernelFunc;
  for (const kind of [`Linear${count}`, `Linear${count}Grad`])
    register(`Adapted${kind}`, ({ backend, inputs }) => {
      const adapted = Array.from({ length: count }, (_, i) =>
        adaptedWeight(backend, inputs[`w${i}`]!, inputs[`la${i}`]!, inputs[`lb${i}`]!),
      );
      const weights = Object.fromEntries(adapted.map((weight, i) => [`w${i}`, weight]));
      const result = kernel(kind)({ inputs: { ...inputs, ...weights }, backend, attrs: {} });
      for (const { dataId } of adapted) backend.disposeData(dataId);
      return result;
    });
}

/**
 * Gradients of A and B: (dy B)^T x and dy^T (x A^T). Products by so few columns take as long as reading x and dy, which is why the pairs share
 * those of x.
 */
function registerAdapterGrad(count: number): void {
  register(`AdaptedLinear${count}AdapterGrad`, ({ backend, inputs }) => {
    const at = (t: tf.TensorInfo) => backend.address(t);
    const x = inputs.x!;
    const [rows, width] = x.shape as [number, number];
    let ranks = 0;
    const pairs = Array.from({ length: count }, (_, i) => {
      const [a, b, dy] = [inputs[`la${i}`]!, inputs[`lb${i}`]!, inputs[`dy${i}`]!];
      const [out, rank] = b.shape as [number, number];
      const first = ranks;
      ranks += rank;
      return { a, b, dy, out, rank, first, db: backend.output([out, rank]) };
    });
    // All A below each other; x A^T and dy B, those of all pairs side by side; and x^T (dy B).
    const [factors, inner, dinner, sums] = [
      backend.output([ranks, width]),
      backend.output([rows, ranks]),
      backend.output([rows, ranks]),
      backend.output([width, ranks]),
    ];
    for (const { a, rank, first } of pairs)
      backend.runtime.run('scaleAdd', [rank * width, at(a), at(factors) + 4 * first * width, 1, 0], 0);
    const side = { b: at(factors), ldb: width, transposeB: true, c: at(inner), ldc: ranks };
    multiplyThin(backend, { m: rows, n: ranks, k: width, a: at(x), lda: width, ...side });
    for (const { b, dy, out, rank, first, db } of pairs) {
      const incoming = { a: at(dy), lda: out };
      const product = { b: at(b), ldb: rank, c: at(dinner) + 4 * first, ldc: ranks };
      multiplyThin(backend, { m: rows, n: rank, k: out, ...incoming, ...product });
      const sum = { b: at(inner) + 4 * first, ldb: ranks, c: at(db), ldc: rank };
      multiplyThin(backend, { m: out, n: rank, k: rows, ...incoming, transposeA: true, ...sum });
    }
    const sum = { b: at(dinner), ldb: ranks, c: at(sums), ldc: ranks };
    multiplyThin(backend, { m: width, n: ranks, k: rows, a: at(x), lda: width, transposeA: true, ...sum });
    const da = pairs.map(({ rank, first }) => {
      const gradient = backend.output([rank, width]);
      const [from, to] = [backend.view(sums), backend.view(gradient)];
      for (let r = 0; r < rank; r++)
        for (let i = 0; i < width; i++) to[r * width + i] = from[i * ranks + first + r]!;
      return gradient;
    });
    for (const { dataId } of [factors, inner, dinner, sums]) backend.disposeData(dataId);
    return [...da, ...pairs.map(({ db }) => db)];
  });
}

export function registerProducts(): void {
  for (const count of LINEAR_COUNTS) registerLinear(count);
  for (const count of LINEAR_COUNTS) registerAdaptedLinear(count);
  for (const count of LINEAR_COUNTS) registerAdapterGrad(count);
  const plain = tf.getKernel('BatchMatMul', 'cpu')!.kernelFunc;
  register('BatchMatMul', ({ backend, inputs, number }) => {
    const a = inputs.a!;
    const b = inputs.b!;
    const transposeA = number('transposeA') === 1;
    const transposeB = number('transposeB') === 1;
    const batch = (t: tf.TensorInfo) => tf.util.sizeFromShape(t.shape.slice(0, -2));
    // Batched products go to tfjs' kernel, which broadcasts; the learner has no large ones.
    if (batch(a) !== 1 || batch(b) !== 1 || a.dtype !== 'float32' || b.dtype !== 'float32')
      return plain({ inputs: { a, b }, backend, attrs: { transposeA, transposeB } });
    const [ra, ca] = a.shape.slice(-2) as [number, number];
    const [rb, cb] = b.shape.slice(-2) as [number, number];
    const m = transposeA ? ca : ra;
    const k = transposeA ? ra : ca;
    const n = transposeB ? rb : cb;
    const lead = a.shape.length >= b.shape.length ? a.shape.slice(0, -2) : b.shape.slice(0, -2);
    const y = backend.output([...lead, m, n]);
    const [pa, pb, c] = [backend.address(a), backend.address(b), backend.address(y)];
    multiply(backend, { m, n, k, a: pa, b: pb, c, transposeA, transposeB });
    return y;
  });
  const plainAdd = tf.getKernel('Add', SIMD)!.kernelFunc;
  register('Add', ({ backend, inputs }) => {
    const a = inputs.a!;
    const b = inputs.b!;
    const same = a.dtype === 'float32' && b.dtype === 'float32' && tf.util.arraysEqual(a.shape, b.shape);
    if (!same || sizeOf(a) < 256) return plainAdd({ inputs: { a, b }, backend });
    const y = backend.output(a.shape);
    const n = sizeOf(a);
    const addresses = [a, b, y].map((t) => backend.address(t));
    backend.runtime.run('add', [n, ...addresses], n);
    return y;
  });
  const plainMultiply = tf.getKernel('Multiply', SIMD)!.kernelFunc;
  register('Multiply', ({ backend, inputs }) => {
    const [a, b] = [inputs.a!, inputs.b!];
    const [many, one] = sizeOf(a) >= sizeOf(b) ? [a, b] : [b, a];
    const scaled = sizeOf(one) === 1 && many.dtype === 'float32' && one.dtype === 'float32';
    // tfjs' own kernel computes the index of each value of both sides.
    if (!scaled || sizeOf(many) < 256) return plainMultiply({ inputs: { a, b }, backend });
    const y = backend.output(tf.broadcast_util.assertAndGetBroadcastShape(a.shape, b.shape));
    const n = sizeOf(y);
    const factor = backend.view(one)[0]!;
    backend.runtime.run('scaleAdd', [n, backend.address(many), backend.address(y), factor, 0], n);
    return y;
  });
}
