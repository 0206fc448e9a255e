import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { AdamW, type AdamWSettings } from '../../learner/nn/adamw.ts';
import { createHead } from '../../learner/nn/heads.ts';
import { createLora, type Lora } from '../../learner/nn/lora.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { type ForwardOptions, lastStates, outputWeight, scoredStates } from '../../learner/nn/model.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { rateFactor } from '../../learner/nn/schedule.ts';
import { logProbsOfStates, tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import { readTensors, type Trainable, together } from '../../learner/nn/trainable.ts';
import * as tf from '../../learner/tfjs.ts';
import { folded } from '../../model/adapter.ts';
import { anyImage, sequenceOf } from '../model/seeing.ts';
import { randomSequences, relativeDifference, TINY, tinyParams } from './engine-tiny.ts';

let device: Device;
beforeEach(async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
});
afterEach(() => device.close());

const batch = packSequences(randomSequences([40, 3, 17, 64]));

const nll = (trained: Trainable, params: ParamSet, options: ForwardOptions = {}) =>
  lossAndGrads(trained, () => tf.neg(tf.mean(tokenLogProbs(params, batch, options).logp)) as tf.Scalar);

/** The base weights with the adapter folded in, as whoever samples folds it. */
const mergedWith = async (base: ParamSet, lora: Lora): Promise<ParamSet> => {
  const adapter = { alpha: lora.settings.alpha, tensors: await readTensors(lora) };
  return paramsFrom(base.config, new Map(folded(await base.toTensors(), adapter)));
};

const read = async (grads: ReadonlyMap<string, tf.Tensor>): Promise<Map<string, Float32Array>> =>
  new Map([...(await readTensors({ tensors: grads }))].map(([name, { data }]) => [name, data]));

test('recomputing the blocks gives the same bits with less memory', async () => {
  const params = tinyParams();
  const run = async (recompute: boolean) => {
    device.resetPeak();
    const before = device.memory().bytes;
    const result = nll(params, params, { recompute });
    const peak = device.memory().peakBytes - before;
    const grads = await read(result.grads);
    disposeResult(result);
    return { grads, peak };
  };
  await run(false); // the kernels' memory takes in the weights
  const kept = await run(false);
  const recomputed = await run(true);
  for (const [name, gradient] of kept.grads) expect(recomputed.grads.get(name), name).toEqual(gradient);
  expect(recomputed.grads.size).toBe(kept.grads.size);
  expect(recomputed.peak).toBeLessThan(0.75 * kept.peak);
});

test('adapters start as the base model, and their gradients follow from those of the merged weights', async () => {
  const base = tinyParams();
  const frozen = await read(base.tensors);
  const settings = { rank: 3, alpha: 6 };
  const lora = createLora(base, settings, 'lora');
  expect(lora.tensors.size).toBe(2 * 7 * TINY.layers.length);
  const plain = await tokenLogProbs(base, batch).logp.data();
  expect(await tokenLogProbs(base, batch, { adapter: lora }).logp.data()).toEqual(plain);

  const optimiser = new AdamW(lora, { lr: 0.02 });
  for (let i = 0; i < 3; i++) {
    const result = nll(lora, base, { adapter: lora, recompute: i === 1 });
    optimiser.step(result.grads).dispose();
    disposeResult(result);
  }
  const merged = await mergedWith(base, lora);
  const adapted = await tokenLogProbs(base, batch, { adapter: lora }).logp.data();
  expect(relativeDifference(await tokenLogProbs(merged, batch).logp.data(), adapted)).toBeLessThan(1e-5);
  expect(relativeDifference(plain, adapted)).toBeGreaterThan(1e-3);
  expect(await read(base.tensors)).toEqual(frozen);

  // W = W0 + s B A, so dB = s dW A^T and dA = s B^T dW.
  const ofAdapter = nll(lora, base, { adapter: lora });
  const ofMerged = nll(merged, merged);
  expect([...ofAdapter.grads.keys()].sort()).toEqual([...lora.tensors.keys()].sort());
  for (const [name, dw] of ofMerged.grads) {
    const pair = lora.pair(name);
    if (!pair) continue;
    const stem = name.replace('.weight', '');
    const db = await tf.mul(2, tf.matMul(dw as tf.Tensor2D, pair.a, false, true)).data();
    const da = await tf.mul(2, tf.matMul(pair.b, dw as tf.Tensor2D, true, false)).data();
    expect(relativeDifference(db, await ofAdapter.grads.get(`${stem}.lora_B.weight`)!.data())).toBeLessThan(
      1e-4,
    );
    expect(relativeDifference(da, await ofAdapter.grads.get(`${stem}.lora_A.weight`)!.data())).toBeLessThan(
      1e-4,
    );
  }
});

test('a value head trains with the policy on the same states; a class head reads the last token', async () => {
  const params = tinyParams();
  const value = createHead({ name: 'value_head', hiddenSize: TINY.hiddenSize, outputs: 1 });
  const both = together(params, value);
  const optimiser = new AdamW(both, { lr: 0.01 });
  const losses: number[] = [];
  for (let i = 0; i < 12; i++) {
    const result = lossAndGrads(both, () => {
      const states = scoredStates(params, batch);
      const { logp } = logProbsOfStates(params, states, batch);
      const error = tf.sub(tf.reshape(value.outputs(states), [-1]), 0.5);
      return tf.add(tf.mean(tf.square(error)), tf.mul(-0.01, tf.mean(logp))) as tf.Scalar;
    });
    expect(result.grads.has('value_head.bias')).toBe(true);
    losses.push((await result.loss.data())[0]!);
    optimiser.step(result.grads).dispose();
    disposeResult(result);
  }
  expect(losses.at(-1)!).toBeLessThan(0.6 * losses[0]!);

  const classes = createHead({ name: 'class_head', hiddenSize: TINY.hiddenSize, outputs: 3 });
  const states = lastStates(params, batch);
  const logits = classes.outputs(states);
  expect(logits.shape).toEqual([4, 3]);
  expect([...(await logits.data())].every((x) => x === 0)).toBe(true);
  // The last token's state predicts the token that would follow.
  const next = tf.logSoftmax(tf.matMul(states, outputWeight(params), false, true));
  const follow = randomSequences([40, 3, 17, 64]).map(({ ids }) => ({ ids: [...ids, 7], from: ids.length }));
  const { logp } = tokenLogProbs(params, packSequences(follow));
  expect(relativeDifference(await logp.data(), await tf.slice(next, [0, 7], [4, 1]).data())).toBeLessThan(
    1e-5,
  );
  const alone = lastStates(params, packSequences([randomSequences([40, 3])[1]!]));
  const second = tf.slice(states, [1, 0], [1, -1]);
  expect(relativeDifference(await alone.data(), await second.data())).toBeLessThan(1e-5);
  expect(() => together(params, params)).toThrow(/share a name/);
});

test('AdamW follows its definition in float64, clips by the global norm and decays matrices only', async () => {
  const settings: AdamWSettings = { lr: 0.1, betas: [0.9, 0.99], eps: 1e-6, weightDecay: 0.2, clipNorm: 2 };
  const w = tf.keep(tf.tensor2d([[0.5, -1, 2]]));
  const b = tf.keep(tf.tensor1d([0.3]));
  const optimiser = new AdamW(
    {
      tensors: new Map<string, tf.Tensor>([
        ['w', w],
        ['b', b],
      ]),
    },
    settings,
  );
  const steps = [
    [3, -4, 0, 12],
    [0.1, 0.2, -0.3, 0.4],
  ]; // norms 13 and sqrt(0.3)
  const p = [0.5, -1, 2, 0.3];
  const m = [0, 0, 0, 0];
  const v = [0, 0, 0, 0];
  for (const [i, g] of steps.entries()) {
    const grads = new Map<string, tf.Tensor>([
      ['w', tf.tensor2d([g.slice(0, 3)])],
      ['b', tf.tensor1d([g[3]!])],
    ]);
    const norm = (await optimiser.step(grads).data())[0]!;
    expect(norm).toBeCloseTo([13, Math.sqrt(0.3)][i]!, 5);
    const scale = Math.min(1, 2 / (norm + 1e-6));
    for (let j = 0; j < 4; j++) {
      m[j] = 0.9 * m[j]! + 0.1 * scale * g[j]!;
      v[j] = 0.99 * v[j]! + 0.01 * (scale * g[j]!) ** 2;
      const direction = m[j]! / (1 - 0.9 ** (i + 1)) / (Math.sqrt(v[j]! / (1 - 0.99 ** (i + 1))) + 1e-6);
      p[j] = p[j]! * (j < 3 ? 1 - 0.1 * 0.2 : 1) - 0.1 * direction;
    }
    expect(relativeDifference(p, [...(await w.data()), ...(await b.data())])).toBeLessThan(1e-6);
  }
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])(
  'a gradient of %d changes nothing and shows in the norm',
  async (bad) => {
    const params = tinyParams();
    const optimiser = new AdamW(params, { lr: 1 });
    const before = await read(params.tensors);
    const result = nll(params, params);
    const [name, first] = [...result.grads][0]!;
    const values = (await first.data()) as Float32Array;
    values[5] = bad;
    result.grads.set(name, tf.tensor(values, first.shape));
    const norm = (await optimiser.step(result.grads).data())[0]!;
    expect(Number.isFinite(norm)).toBe(false);
    expect(await read(params.tensors)).toEqual(before);
    const { tensors } = await optimiser.exportState();
    for (const { data } of tensors.values()) expect(data.every((x) => x === 0)).toBe(true);
  },
);

test('a schedule warms up, decays and stops at its floor', () => {
  const linear = { shape: 'linear', warmupSteps: 4, totalSteps: 14, floor: 0.1 } as const;
  expect([0, 1, 3, 4, 9, 14, 99].map((step) => rateFactor(linear, step))).toEqual([
    0.25,
    0.5,
    1,
    1,
    expect.closeTo(0.55),
    expect.closeTo(0.1),
    expect.closeTo(0.1),
  ]);
  const cosine = { shape: 'cosine', warmupSteps: 0, totalSteps: 8, floor: 0 } as const;
  expect(rateFactor(cosine, 2)).toBeCloseTo(0.5 + Math.SQRT1_2 / 2, 12);
  expect(rateFactor({ ...linear, shape: 'constant' }, 1000)).toBe(1);
});

test('bad batches are named', () => {
  const params = tinyParams();
  expect(() => packSequences([])).toThrow(/no sequences/);
  expect(() => packSequences([{ ids: [1, 2], from: 2 }])).toThrow(/scored from 2/);
  const score = (ids: number[]) => tokenLogProbs(params, packSequences([{ ids, from: 1 }]));
  expect(() => score([1, 61])).toThrow(/Token id 61/);
  expect(() => score(Array.from({ length: 257 }, () => 1))).toThrow(/at most 256/);
  const { ids } = sequenceOf(1, anyImage(24, 24, 'bad'), 2, 3);
  const shown = packSequences([{ ids, from: ids.length - 1 }]);
  expect(() => tokenLogProbs(params, shown)).toThrow(expect.objectContaining({ code: 'learner.blind' }));
  expect(() => packSequences([{ ids, from: 4 }])).toThrow(expect.objectContaining({ code: 'learner.patch' }));
});
