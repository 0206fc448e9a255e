/**
 * Value and gradients of a scalar loss with respect to a parameter set. Intermediate tensors are disposed; the returned ones belong to
 * the caller.
 */
import { scaleAddInto } from '../ops/in-place.ts';
import * as tf from '../tfjs.ts';
import { backward } from './backward.ts';
import type { Trainable } from './trainable.ts';

/** Gradients by parameter name; a parameter that the loss does not reach has none. */
export type Gradients = Map<string, tf.Tensor>;

export interface LossAndMetrics {
  loss: tf.Scalar;
  /** Further results of the forward pass, kept for the caller to read when it likes. */
  metrics: Record<string, tf.Tensor>;
}

export interface LossAndGrads extends LossAndMetrics {
  grads: Gradients;
}

/** Computes the loss without reading from the device. Dispose the result with `disposeResult` after the optimiser's step. */
export function lossAndGrads(params: Trainable, loss: () => tf.Scalar | LossAndMetrics): LossAndGrads {
  const names = [...params.tensors.keys()];
  let metrics: Record<string, tf.Tensor> = {};
  const forward = (): tf.Scalar => {
    const result = loss();
    if (result instanceof tf.Tensor) return result;
    metrics = result.metrics;
    for (const metric of Object.values(metrics)) tf.keep(metric);
    return result.loss;
  };
  const { value, grads } = tf.tidy(() => backward(forward, [...params.tensors.values()]));
  const reached = names.flatMap((name, i): [string, tf.Tensor][] => (grads[i] ? [[name, grads[i]]] : []));
  return { loss: value, metrics, grads: new Map<string, tf.Tensor>(reached) };
}

/** Adds the second loss and its gradients to the first, in place, and disposes the second. The caller handles the metrics. */
export function accumulate(total: LossAndGrads, next: LossAndGrads): void {
  const sum: tf.Scalar = tf.keep(tf.add(total.loss, next.loss));
  tf.dispose([total.loss, next.loss]);
  total.loss = sum;
  for (const [name, gradient] of next.grads) {
    const mine = total.grads.get(name);
    if (!mine) {
      total.grads.set(name, gradient);
      continue;
    }
    scaleAddInto(mine, gradient, 1, 1);
    gradient.dispose();
  }
}

export function disposeResult({ loss, metrics, grads }: LossAndGrads): void {
  tf.dispose([loss, ...Object.values(metrics), ...grads.values()]);
}
