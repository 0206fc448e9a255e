/**
 * The one place where tfjs enters the project: import `* as tf` from here, never from the package. It registers the gradients
 * that the Node build lacks and turns tfjs' advertising banner off; it does not choose a device.
 */
import * as core from '@tensorflow/tfjs-core';
import { registerGradients } from './gradients/index.ts';

// PROD only silences tfjs' own console messages (the banner of its cpu backend); checks stay on.
core.env().set('PROD', true);
registerGradients();

export * from '@tensorflow/tfjs-core';

/** Stop-gradient: the value is x, and no gradient flows back. */
export const stopGradient = <T extends core.Tensor>(x: T): T =>
  core.customGrad((...inputs) => ({
    value: core.clone(inputs[0] as core.Tensor),
    gradFunc: (dy) => core.zerosLike(dy),
  }))(x) as T;
