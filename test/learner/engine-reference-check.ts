/** The check that every device must pass: log-probabilities, entropies and gradients of a reference checkpoint against float64. */
import { expect } from 'vitest';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import { loadReference, type ReferenceModel } from './engine-checkpoints.ts';

/** Relative, with a floor for values that are zero up to rounding. */
const near = (actual: number, wanted: number, floor: number, name: string): void =>
  expect(Math.abs(actual - wanted), name).toBeLessThan(1e-4 * Math.max(Math.abs(wanted), floor));

/** On the device that is open now. */
export async function expectReferenceGradients(name: ReferenceModel): Promise<void> {
  const { params, expected, batch } = await loadReference(name);
  const weights = expected.weights.flat();
  const result = lossAndGrads(params, () => {
    const { logp, entropy } = tokenLogProbs(params, batch);
    const loss = tf.neg(tf.mean(tf.mul(tf.tensor1d(weights), logp))) as tf.Scalar;
    return { loss, metrics: { logp, entropy } };
  });
  near((await result.loss.data())[0]!, expected.loss, 0, 'loss');
  const perToken = [
    ['logp', expected.token_logprobs.flat()],
    ['entropy', expected.entropy.flat()],
  ] as const;
  for (const [metric, wanted] of perToken)
    (await result.metrics[metric]!.data()).forEach((x, i) => {
      expect(Math.abs(x - wanted[i]!), `${metric} ${i}`).toBeLessThan(1e-5);
    });

  expect([...result.grads.keys()].sort()).toEqual(Object.keys(expected.gradients).sort());
  for (const [tensor, wanted] of Object.entries(expected.gradients)) {
    let square = 0;
    let probe = 0;
    (await result.grads.get(tensor)!.data()).forEach((x, i) => {
      square += x * x;
      probe += x * Math.cos(0.37 * i);
    });
    near(Math.sqrt(square), wanted.norm, 0, `norm of ${tensor}`);
    near(probe, wanted.probe, wanted.norm, `probe of ${tensor}`);
  }
  disposeResult(result);
  params.dispose();
}
