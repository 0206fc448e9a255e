/** Matrix products on the GPU: the fused projections, and tfjs' own matMul. */
import { LINEAR_COUNTS } from '../../ops/linear.ts';
import * as tf from '../../tfjs.ts';
import { multiply, multiplyAll } from './gemm.ts';
import { register, WEBGPU } from './register.ts';
import { GROUP, perElement } from './wgsl.ts';

const FILL_ROWS = perElement('u.size', '  y[i] = bias[i % u.width];');

function registerLinear(count: number): void {
  const indices = Array.from({ length: count }, (_, i) => i);
  register(`Linear${count}`, ({ backend, inputs }) => {
    const x = inputs.x!;
    const [rows, width] = x.shape as [number, number];
    const biased = inputs.b0 !== undefined;
    const results = indices.map((i) => {
      const b = inputs[`w${i}`]!;
      const n = b.shape[0]!;
      const c = backend.output([rows, n]);
      return { m: rows, n, c, addend: inputs[`r${i}`], factors: [{ k: width, a: x, b }] };
    });
    for (const [i, { n, c }] of biased ? results.entries() : [])
      backend.dispatch({
        source: FILL_ROWS,
        outputs: { y: c },
        inputs: { bias: inputs[`b${i}`]! },
        uniforms: { size: rows * n, width: n },
        groups: Math.ceil((rows * n) / GROUP),
      });
    multiplyAll(backend, results, { transposeB: true, add: biased });
    return results.map(({ c }) => c);
  });
  register(`Linear${count}Grad`, ({ backend, inputs }) => {
    const rows = inputs.dy0!.shape[0]!;
    const width = inputs.w0!.shape[1]!;
    const c = backend.output([rows, width]);
    const factors = indices.map((i) => {
      const b = inputs[`w${i}`]!;
      return { k: b.shape[0]!, a: inputs[`dy${i}`]!, b };
    });
    multiplyAll(backend, [{ m: rows, n: width, c, factors }], {});
    return c;
  });
  register(`Linear${count}WeightGrad`, ({ backend, inputs }) => {
    const b = inputs.x!;
    const [rows, width] = b.shape as [number, number];
    const results = indices.map((i) => {
      const a = inputs[`dy${i}`]!;
      const m = a.shape[1]!;
      return { m, n: width, c: backend.output([m, width]), factors: [{ k: rows, a, b }] };
    });
    multiplyAll(backend, results, { transposeA: true });
    return results.map(({ c }) => c);
  });
}

/** x W^T + (x A^T) B^T, and dy W + (dy B) A: the second products are added to what the first wrote. */
function registerAdaptedLinear(count: number): void {
  const plain = (name: string) => tf.getKernel(name, WEBGPU)!.kernelFunc;
  register(`AdaptedLinear${count}`, ({ backend, inputs }) => {
    const x = inputs.x!;
    const [rows, width] = x.shape as [number, number];
    const outputs = plain(`Linear${count}`)({ inputs, backend, attrs: {} }) as tf.TensorInfo[];
    for (const [i, y] of outputs.entries()) {
      const [a, b] = [inputs[`la${i}`]!, inputs[`lb${i}`]!];
      const [out, rank] = b.shape as [number, number];
      const inner = backend.output([rows, rank]);
      multiply(backend, { m: rows, n: rank, k: width, a: x, b: a, c: inner, transposeB: true });
      multiply(backend, { m: rows, n: out, k: rank, a: inner, b, c: y, transposeB: true, add: true });
      backend.disposeData(inner.dataId);
    }
    return outputs;
  });
  register(`AdaptedLinear${count}Grad`, ({ backend, inputs }) => {
    const dx = plain(`Linear${count}Grad`)({ inputs, backend, attrs: {} }) as tf.TensorInfo;
    const [rows, width] = dx.shape as [number, number];
    for (let i = 0; i < count; i++) {
      const [a, b, dy] = [inputs[`la${i}`]!, inputs[`lb${i}`]!, inputs[`dy${i}`]!];
      const [out, rank] = b.shape as [number, number];
      const inner = backend.output([rows, rank]);
      multiply(backend, { m: rows, n: rank, k: out, a: dy, b, c: inner });
      multiply(backend, { m: rows, n: width, k: rank, a: inner, b: a, c: dx, add: true });
      backend.disposeData(inner.dataId);
    }
    return dx;
  });
}

/** Three products that share nothing bind nine buffers, and some GPUs have room for eight. */
const twoByTwo = <T>(items: readonly T[]): T[][] =>
  items.length > 2 ? [items.slice(0, 2), items.slice(2)] : [[...items]];

/** Gradients of A and B: (dy B)^T x and dy^T (x A^T), of several pairs in one dispatch. */
function registerAdapterGrad(count: number): void {
  register(`AdaptedLinear${count}AdapterGrad`, ({ backend, inputs }) => {
    const x = inputs.x!;
    const [rows, width] = x.shape as [number, number];
    const pairs = Array.from({ length: count }, (_, i) => {
      const [a, b, dy] = [inputs[`la${i}`]!, inputs[`lb${i}`]!, inputs[`dy${i}`]!];
      const [out, rank] = b.shape as [number, number];
      return {
        a,
        b,
        dy,
        out,
        rank,
        inner: backend.output([rows, rank]),
        dinner: backend.output([rows, rank]),
      };
    });
    multiplyAll(
      backend,
      pairs.map(({ a, rank, inner }) => ({
        m: rows,
        n: rank,
        c: inner,
        factors: [{ k: width, a: x, b: a }],
      })),
      { transposeB: true },
    );
    for (const some of twoByTwo(pairs))
      multiplyAll(
        backend,
        some.map(({ b, dy, out, rank, dinner }) => {
          return { m: rows, n: rank, c: dinner, factors: [{ k: out, a: dy, b }] };
        }),
        {},
      );
    const da = pairs.map(({ rank, dinner }) => {
      return { m: rank, n: width, c: backend.output([rank, width]), factors: [{ k: rows, a: dinner, b: x }] };
    });
    const db = pairs.map(({ dy, out, rank, inner }) => {
      return { m: out, n: rank, c: backend.output([out, rank]), factors: [{ k: rows, a: dy, b: inner }] };
    });
    multiplyAll(backend, da, { transposeA: true });
    for (const some of twoByTwo(db)) multiplyAll(backend, some, { transposeA: true });
    for (const { inner, dinner } of pairs)
      for (const { dataId } of [inner, dinner]) backend.disposeData(dataId);
    return [...da, ...db].map(({ c }) => c);
  });
}

export function registerProducts(): void {
  for (const count of LINEAR_COUNTS) registerLinear(count);
  for (const count of LINEAR_COUNTS) registerAdaptedLinear(count);
  for (const count of LINEAR_COUNTS) registerAdapterGrad(count);
  const plain = tf.getKernel('BatchMatMul', WEBGPU)!.kernelFunc;
  register('BatchMatMul', ({ backend, inputs, number }) => {
    const a = inputs.a!;
    const b = inputs.b!;
    const transposeA = number('transposeA') === 1;
    const transposeB = number('transposeB') === 1;
    const batch = (t: tf.TensorInfo) => tf.util.sizeFromShape(t.shape.slice(0, -2));
    if (batch(a) !== 1 || batch(b) !== 1 || a.dtype !== 'float32' || b.dtype !== 'float32')
      return plain({ inputs: { a, b }, backend, attrs: { transposeA, transposeB } });
    const [ra, ca] = a.shape.slice(-2) as [number, number];
    const [rb, cb] = b.shape.slice(-2) as [number, number];
    const m = transposeA ? ca : ra;
    const n = transposeB ? rb : cb;
    const lead = a.shape.length >= b.shape.length ? a.shape.slice(0, -2) : b.shape.slice(0, -2);
    const c = backend.output([...lead, m, n]);
    multiply(backend, { m, n, k: transposeA ? ra : ca, a, b, c, transposeA, transposeB });
    return c;
  });
}
