import { expect, test } from 'vitest';
import * as tf from '../../../learner/tfjs.ts';
import { backprop, expectClose, expectGradient, type ScalarFunction } from './finite-difference.ts';

await tf.setBackend('cpu');

const X = [0.7, -1.3, 0.4, 2.1, -0.2, 1.6];
const POSITIVE = [0.7, 1.3, 0.4, 2.1, 0.2, 1.6];
const W = [0.3, -1.1, 0.9, 0.5, -0.7, 1.2, -0.6, 0.8, 0.4];
const weights = (shape: number[]): tf.Tensor =>
  tf.tensor(
    W.slice(
      0,
      shape.reduce((a, b) => a * b, 1),
    ),
    shape,
  );
/** Sum of f(x) times fixed weights, so that no gradient is uniform by accident. */
const weighted =
  (f: (x: tf.Tensor) => tf.Tensor): ScalarFunction =>
  (x) => {
    const y = f(x);
    return tf.sum(tf.mul(y, weights(y.shape)));
  };
const row = (): tf.Tensor => tf.tensor2d([[1.5, -0.5, 0.8]]);

const cases: Record<string, { f: ScalarFunction; x?: number[]; shape?: number[] }> = {
  Abs: { f: weighted(tf.abs) },
  Exp: { f: weighted(tf.exp) },
  Expm1: { f: weighted(tf.expm1) },
  Log: { f: weighted(tf.log), x: POSITIVE },
  Log1p: { f: weighted(tf.log1p), x: POSITIVE },
  Neg: { f: weighted(tf.neg) },
  Reciprocal: { f: weighted(tf.reciprocal), x: POSITIVE },
  Relu: { f: weighted(tf.relu) },
  Rsqrt: { f: weighted(tf.rsqrt), x: POSITIVE },
  Sigmoid: { f: weighted(tf.sigmoid) },
  Softplus: { f: weighted(tf.softplus) },
  Sqrt: { f: weighted(tf.sqrt), x: POSITIVE },
  Square: { f: weighted(tf.square) },
  Tanh: { f: weighted(tf.tanh) },
  ClipByValue: { f: weighted((x) => tf.clipByValue(x, -1, 1)) },
  Pow: { f: weighted((x) => tf.pow(x, 2.5)), x: POSITIVE },
  'Pow exponent': { f: weighted((x) => tf.pow(tf.scalar(1.7), x)) },
  'Add broadcast': { f: weighted((x) => tf.add(tf.ones([2, 3]), x)), x: X.slice(0, 3), shape: [1, 3] },
  'Sub broadcast': { f: weighted((x) => tf.sub(tf.ones([2, 3]), x)), x: X.slice(0, 2), shape: [2, 1] },
  'Multiply broadcast': { f: weighted((x) => tf.mul(tf.mul(x, x), row())), shape: [2, 3] },
  'Multiply by a scalar': { f: weighted((x) => tf.mul(row(), tf.sum(x))), shape: [2, 3] },
  'RealDiv numerator': { f: weighted((x) => tf.div(x, row())), shape: [2, 3] },
  'RealDiv denominator': { f: weighted((x) => tf.div(row(), x)), x: POSITIVE, shape: [2, 3] },
  Maximum: { f: weighted((x) => tf.maximum(x, tf.mul(x, -0.5))) },
  Minimum: { f: weighted((x) => tf.minimum(tf.mul(x, x), x)) },
  SquaredDifference: { f: weighted((x) => tf.squaredDifference(x, row())), shape: [2, 3] },
  Select: { f: weighted((x) => tf.where(tf.greater(x, 0), tf.square(x), tf.mul(x, 3))) },
  AddN: { f: weighted((x) => tf.addN([x, tf.square(x), x])) },
  'Sum of an axis': { f: weighted((x) => tf.sum(tf.square(x), 1)), shape: [2, 3] },
  'Mean of an axis': { f: weighted((x) => tf.mean(tf.square(x), 0)), shape: [2, 3] },
  'Max of an axis': { f: weighted((x) => tf.max(x, 1)), shape: [2, 3] },
  'Min of an axis': { f: weighted((x) => tf.min(x, 0)), shape: [2, 3] },
  Softmax: { f: weighted((x) => tf.softmax(x)), shape: [2, 3] },
  logSoftmax: { f: weighted((x) => tf.logSoftmax(x)), shape: [2, 3] },
  logSumExp: { f: weighted((x) => tf.logSumExp(x, 1)), shape: [2, 3] },
  Cumsum: { f: weighted((x) => tf.cumsum(tf.square(x))) },
  'Cumsum exclusive, reversed': { f: weighted((x) => tf.cumsum(tf.square(x), 0, true, true)) },
  'Reshape, Transpose': { f: weighted((x) => tf.transpose(tf.reshape(tf.square(x), [3, 2]))) },
  ExpandDims: { f: weighted((x) => tf.expandDims(tf.square(x), 0)) },
  Slice: { f: weighted((x) => tf.slice(tf.square(x), [0, 1], [2, 2])), shape: [2, 3] },
  Pad: { f: weighted((x) => tf.pad(tf.square(x), [[1, 2]])), x: X.slice(0, 3) },
  Concat: { f: weighted((x) => tf.concat([tf.square(x), x], 1)), x: X.slice(0, 2), shape: [2, 1] },
  Tile: { f: weighted((x) => tf.tile(tf.square(x), [2, 1])), x: X.slice(0, 3), shape: [1, 3] },
  Gather: { f: weighted((x) => tf.gather(tf.square(x), tf.tensor1d([2, 0, 2], 'int32'))) },
  'Gather of rows': {
    f: weighted((x) => tf.gather(tf.square(x), tf.tensor1d([1, 1], 'int32'))),
    shape: [2, 3],
  },
  UnsortedSegmentSum: {
    f: weighted((x) => tf.unsortedSegmentSum(tf.square(x), tf.tensor1d([1, 0, 1, 2, 0, 1], 'int32'), 3)),
  },
};
for (const [ta, tb] of [
  [false, false],
  [true, false],
  [false, true],
  [true, true],
] as const) {
  const other = (): tf.Tensor => tf.tensor([0.3, -0.8, 1.1, 0.6, -0.4, 0.9], tb ? [2, 3] : [3, 2]);
  const first = (): tf.Tensor => tf.tensor([0.3, -0.8, 1.1, 0.6, -0.4, 0.9], ta ? [2, 3] : [3, 2]);
  cases[`MatMul a ${ta} ${tb}`] = {
    f: weighted((x) => tf.matMul(x, other(), ta, tb)),
    shape: ta ? [3, 2] : [2, 3],
  };
  cases[`MatMul b ${ta} ${tb}`] = {
    f: weighted((x) => tf.matMul(first(), x, ta, tb)),
    shape: tb ? [3, 2] : [2, 3],
  };
}

test.for(Object.keys(cases))('the gradient of %s is its finite difference', (name) => {
  const { f, x = X, shape = [x.length] } = cases[name]!;
  expectGradient(f, x, shape);
});

test('comparisons and detached values pass no gradient', () => {
  const f: ScalarFunction = (x) => tf.sum(tf.mul(x, tf.stopGradient(tf.square(x))));
  expectClose(backprop(f, [2, 3]), [4, 9]);
  expectClose(
    backprop((x) => tf.sum(tf.mul(x, tf.cast(tf.less(x, 1), 'float32'))), [0.5, 3]),
    [1, 0],
  );
});

test('a NaN on the side of where that was not taken does not reach the gradient', () => {
  const f: ScalarFunction = (x) =>
    tf.sum(tf.where(tf.greater(x, 0), tf.square(x), tf.fill(x.shape, Number.NaN)));
  expect(backprop(f, [3])).toEqual([6]);
});
