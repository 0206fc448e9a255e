import { afterAll, describe, expect, test } from 'vitest';
import { type Device, openDevice } from '../../learner/device/device.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import { loadReference, REFERENCE_MODELS } from './engine-checkpoints.ts';

const VARIANTS = [
  { fma: true, threads: 1 },
  { fma: false, threads: 1 },
  { fma: true, threads: 2 },
  { fma: false, threads: 2 },
];

/** Relative, with an absolute floor for values that are zero up to rounding. */
const near = (actual: number, wanted: number, floor: number): void =>
  expect(Math.abs(actual - wanted)).toBeLessThan(1e-4 * Math.max(Math.abs(wanted), floor));

describe.each(VARIANTS)('CPU, fma $fma, $threads threads', (variant) => {
  let device: Device | undefined;
  afterAll(() => device?.close());

  test.each(REFERENCE_MODELS)(
    '%s: log-probabilities, entropies and gradients match float64',
    async (name) => {
      device ??= await openDevice({ device: 'cpu', shareCycles: 1, ...variant });
      expect(device.description).toContain(variant.fma ? 'fused multiply-add' : 'SIMD');
      const { params, expected, batch } = await loadReference(name);

      const weights = expected.weights.flat();
      const result = lossAndGrads(params, () => {
        const { logp, entropy } = tokenLogProbs(params, batch);
        const loss = tf.neg(tf.mean(tf.mul(tf.tensor1d(weights), logp))) as tf.Scalar;
        return { loss, metrics: { logp, entropy } };
      });
      near((await result.loss.data())[0]!, expected.loss, 0);
      const wantedLogp = expected.token_logprobs.flat();
      const wantedEntropy = expected.entropy.flat();
      (await result.metrics.logp!.data()).forEach((x, i) => {
        expect(Math.abs(x - wantedLogp[i]!)).toBeLessThan(1e-5);
      });
      (await result.metrics.entropy!.data()).forEach((x, i) => {
        expect(Math.abs(x - wantedEntropy[i]!)).toBeLessThan(1e-5);
      });

      expect([...result.grads.keys()].sort()).toEqual(Object.keys(expected.gradients).sort());
      for (const [tensor, wanted] of Object.entries(expected.gradients)) {
        const values = await result.grads.get(tensor)!.data();
        let square = 0;
        let probe = 0;
        values.forEach((x, i) => {
          square += x * x;
          probe += x * Math.cos(0.37 * i);
        });
        near(Math.sqrt(square), wanted.norm, 0);
        near(probe, wanted.probe, wanted.norm);
      }
      disposeResult(result);
      params.dispose();
    },
  );
});
