/** Gradients of the kernels y = f(a, b), element by element with broadcasting, and of selection. */
import * as tf from '@tensorflow/tfjs-core';
import { type Binary, constant, float, ofPair, only } from './helpers.ts';

export function registerPairs(): void {
  const pass: Binary = (dy) => dy;
  const negative: Binary = (dy) => tf.neg(dy);
  ofPair('Add', pass, pass);
  ofPair('Sub', pass, negative);
  ofPair(
    'Multiply',
    (dy, _, b) => tf.mul(dy, b),
    (dy, a) => tf.mul(dy, a),
  );
  ofPair(
    'RealDiv',
    (dy, _, b) => tf.div(dy, b),
    (dy, a, b) => tf.neg(tf.div(tf.mul(dy, a), tf.square(b))),
  );
  // At a tie the first operand takes the whole gradient, so that the two still add up to dy.
  ofPair(
    'Maximum',
    (dy, a, b) => tf.mul(dy, float(tf.greaterEqual(a, b))),
    (dy, a, b) => tf.mul(dy, float(tf.less(a, b))),
  );
  ofPair(
    'Minimum',
    (dy, a, b) => tf.mul(dy, float(tf.lessEqual(a, b))),
    (dy, a, b) => tf.mul(dy, float(tf.greater(a, b))),
  );
  ofPair(
    'SquaredDifference',
    (dy, a, b) => tf.mul(dy, tf.mul(2, tf.sub(a, b))),
    (dy, a, b) => tf.mul(dy, tf.mul(2, tf.sub(b, a))),
  );
  ofPair(
    'Pow',
    (dy, a, b) => tf.mul(dy, tf.mul(b, tf.pow(a, tf.sub(b, 1)))),
    (dy, a, b) => tf.mul(dy, tf.mul(tf.pow(a, b), tf.where(tf.greater(a, 0), tf.log(a), tf.zerosLike(a)))),
  );
  for (const kernel of ['Equal', 'NotEqual', 'Less', 'LessEqual', 'Greater', 'GreaterEqual'])
    constant(kernel, ['a', 'b']);
  for (const kernel of ['LogicalAnd', 'LogicalOr']) constant(kernel, ['a', 'b']);
  tf.registerGradient({
    kernelName: 'Select',
    inputsToSave: ['condition'],
    // tf.where instead of a product with 0 and 1, so that a NaN on the side that was not taken does not get in
    gradFunc: (dy, [condition]) => ({
      condition: () => tf.zeros(condition!.shape),
      t: () => tf.where(condition!, only(dy), tf.zerosLike(only(dy))),
      e: () => tf.where(condition!, tf.zerosLike(only(dy)), only(dy)),
    }),
  });
  tf.registerGradient({
    kernelName: 'AddN',
    saveAllInputs: true,
    gradFunc: (dy, saved) => Object.fromEntries(saved.map((_, i) => [i, () => tf.clone(only(dy))])),
  });
}
