/** Gradients of the kernels y = f(x), element by element. */
import * as tf from '@tensorflow/tfjs-core';
import { constant, float, ofInput, ofOutput, only } from './helpers.ts';

export function registerElementwise(): void {
  ofInput('Abs', (dy, x) => tf.mul(dy, tf.sign(x)));
  ofInput('Cast', (dy) => float(dy));
  ofInput('Identity', (dy) => tf.clone(dy));
  ofInput('Log', (dy, x) => tf.div(dy, x));
  ofInput('Log1p', (dy, x) => tf.div(dy, tf.add(x, 1)));
  ofInput('Neg', (dy) => tf.neg(dy));
  ofInput('Reciprocal', (dy, x) => tf.neg(tf.div(dy, tf.square(x))));
  ofInput('Relu', (dy, x) => tf.mul(dy, tf.step(x)));
  ofInput('Rsqrt', (dy, x) => tf.mul(dy, tf.div(tf.rsqrt(x), tf.mul(x, -2))));
  ofInput('Softplus', (dy, x) => tf.mul(dy, tf.sigmoid(x)));
  ofInput('Square', (dy, x) => tf.mul(dy, tf.mul(x, 2)));
  ofOutput('Exp', 'x', (dy, y) => tf.mul(dy, y));
  ofOutput('Expm1', 'x', (dy, y) => tf.mul(dy, tf.add(y, 1)));
  ofOutput('Sigmoid', 'x', (dy, y) => tf.mul(dy, tf.mul(y, tf.sub(1, y))));
  ofOutput('Sqrt', 'x', (dy, y) => tf.div(dy, tf.mul(y, 2)));
  ofOutput('Tanh', 'x', (dy, y) => tf.mul(dy, tf.sub(1, tf.square(y))));
  for (const kernel of ['Sign', 'Floor', 'Ceil', 'Round', 'Step', 'ZerosLike', 'OnesLike', 'LogicalNot'])
    constant(kernel, ['x']);
  tf.registerGradient({
    kernelName: 'ClipByValue',
    inputsToSave: ['x'],
    gradFunc: (dy, [x], attrs) => ({
      x: () => {
        const low = tf.greaterEqual(x!, attrs.clipValueMin as number);
        const high = tf.lessEqual(x!, attrs.clipValueMax as number);
        return tf.mul(only(dy), float(tf.logicalAnd(low, high)));
      },
    }),
  });
}
