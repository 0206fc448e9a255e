import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Policy } from '../../core/policy/policy.ts';
import { createPolicy } from '../../infer/onnx-policy.ts';
import { loadOrt } from '../../infer/ort.ts';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { AdamW } from '../../learner/nn/adamw.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import { readSafetensors, writeSafetensors } from '../../model/safetensors.ts';
import { loadReference, REFERENCE_MODELS } from './engine-checkpoints.ts';

let device: Device;
beforeAll(async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
});
afterAll(() => device.close());

const PROMPTS = [
  [1, 5, 9, 2],
  [1, 7, 33, 60, 4, 4, 19],
];
const SETTINGS = { maxNew: 24, temperature: 0.8, stop: [2] };

/** Samples from the published weights, and how far the learner's log-probabilities of them are from those of the sampling. */
async function largestMismatch(policy: Policy, params: ParamSet): Promise<number> {
  const prompts = PROMPTS.map((ids, i) => ({
    ids,
    sampleIds: ['a', 'b', 'c'].map((name) => `${name}/${i}`),
  }));
  const completions = await policy.generate(prompts, SETTINGS);
  let worst = 0;
  for (const [i, samples] of completions.entries()) {
    const sequences = samples.map(({ ids }) => ({ ids: [...PROMPTS[i]!, ...ids], from: PROMPTS[i]!.length }));
    const scored = tokenLogProbs(params, packSequences(sequences), { temperature: SETTINGS.temperature });
    const logp = await scored.logp.data();
    samples
      .flatMap(({ logprobs }) => logprobs)
      .forEach((sampled, t) => {
        worst = Math.max(worst, Math.abs(sampled - logp[t]!));
      });
    expect(logp.length).toBe(samples.reduce((sum, { ids }) => sum + ids.length, 0));
  }
  return worst;
}

describe.each(REFERENCE_MODELS)('%s', (name) => {
  test('trained weights sample with the log-probabilities that the learner gives them', async () => {
    const { params, expected, batch } = await loadReference(name);
    const optimiser = new AdamW(params, { lr: 3e-3 });
    for (let i = 0; i < 3; i++) {
      const result = lossAndGrads(
        params,
        () => tf.neg(tf.mean(tokenLogProbs(params, batch).logp)) as tf.Scalar,
      );
      optimiser.step(result.grads).dispose();
      disposeResult(result);
    }
    const runtime = await loadOrt();
    const ref = { name, version: 1 };
    for (const dtype of ['F32', 'BF16'] as const) {
      const weights = readSafetensors(writeSafetensors(await params.toTensors(), dtype));
      const policy = await createPolicy({ runtime, ref, config: params.config, weights });
      const published = paramsFrom(params.config, weights);
      expect(await largestMismatch(policy, published)).toBeLessThan(1e-4);
      const [scores] = await policy.score([expected.input_ids[0]!]);
      const own = await tokenLogProbs(
        published,
        packSequences([{ ids: expected.input_ids[0]!, from: 1 }]),
      ).entropy.data();
      scores!.entropy.forEach((entropy, t) => {
        expect(Math.abs(entropy - own[t]!)).toBeLessThan(1e-4);
      });
      await policy.dispose();
    }
  });
});
