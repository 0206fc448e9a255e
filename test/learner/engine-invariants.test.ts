import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { AdamW } from '../../learner/nn/adamw.ts';
import {
  accumulate,
  disposeResult,
  type LossAndGrads,
  lossAndGrads,
} from '../../learner/nn/loss-and-grads.ts';
import { microBatches, packSequences, type SequenceInput } from '../../learner/nn/pack.ts';
import { type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import { gradientNorm } from '../../learner/ops/in-place.ts';
import { rmsNorm } from '../../learner/ops/rms-norm.ts';
import * as tf from '../../learner/tfjs.ts';
import type { Tensors } from '../../model/safetensors.ts';
import { randomSequences, relativeDifference, TINY, tinyParams } from './engine-tiny.ts';

let device: Device;
beforeEach(async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
});
afterEach(() => device.close());

const LENGTHS = [40, 3, 17, 2, 64, 29];
const scoredTokens = (sequences: readonly SequenceInput[]): number =>
  sequences.reduce((sum, { ids, from }) => sum + ids.length - from, 0);

/** Negative log-likelihood plus a little entropy, summed and divided by a given count: additive over micro-batches. */
const step = (
  params: ParamSet,
  sequences: readonly SequenceInput[],
  total = scoredTokens(sequences),
): LossAndGrads =>
  lossAndGrads(params, () => {
    const { logp, entropy } = tokenLogProbs(params, packSequences(sequences), { temperature: 0.8 });
    return tf.div(tf.neg(tf.sum(tf.add(logp, tf.mul(0.1, entropy)))), total) as tf.Scalar;
  });

async function values({ loss, grads }: LossAndGrads): Promise<Map<string, Float32Array>> {
  const out = new Map([['loss', (await loss.data()) as Float32Array]]);
  for (const [name, grad] of grads) out.set(name, (await grad.data()) as Float32Array);
  return out;
}

function expectClose(a: Map<string, Float32Array>, b: Map<string, Float32Array>, tolerance: number): void {
  expect([...a.keys()].sort()).toEqual([...b.keys()].sort());
  for (const [name, x] of a) expect(relativeDifference(x, b.get(name)!), name).toBeLessThanOrEqual(tolerance);
}

async function train(params: ParamSet, optimiser: AdamW, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const result = step(params, randomSequences([20, 9, 31], `train/${i}`));
    optimiser.step(result.grads, 1e-3).dispose();
    disposeResult(result);
    await device.flush();
  }
}

const snapshot = async (params: ParamSet): Promise<Map<string, Float32Array>> =>
  new Map([...(await params.toTensors())].map(([name, { data }]) => [name, data]));

test('micro-batches accumulate to the gradients of the single batch', async () => {
  const params = tinyParams();
  const sequences = randomSequences(LENGTHS);
  const whole = step(params, sequences);
  const groups = microBatches(sequences, 70);
  expect(groups).toEqual([[0, 1, 2, 3], [4], [5]]);
  const parts = groups.map((group) =>
    step(
      params,
      group.map((i) => sequences[i]!),
      scoredTokens(sequences),
    ),
  );
  const [total, ...others] = parts as [LossAndGrads, ...LossAndGrads[]];
  for (const part of others) accumulate(total, part);
  expectClose(await values(whole), await values(total), 1e-5);
  disposeResult(whole);
  disposeResult(total);
  params.dispose();
});

test('the order of sequences in a batch does not matter', async () => {
  const params = tinyParams();
  const sequences = randomSequences(LENGTHS);
  const forward = step(params, sequences);
  const backward = step(params, sequences.toReversed());
  expectClose(await values(forward), await values(backward), 1e-5);
  disposeResult(forward);
  disposeResult(backward);
  params.dispose();
});

test('a packed sequence scores as it does alone', async () => {
  const params = tinyParams();
  const sequences = randomSequences(LENGTHS);
  const packed = await tokenLogProbs(params, packSequences(sequences)).logp.data();
  const alone: number[] = [];
  for (const sequence of sequences)
    alone.push(...(await tokenLogProbs(params, packSequences([sequence])).logp.data()));
  expect(packed.length).toBe(scoredTokens(sequences));
  expect(relativeDifference(packed, alone)).toBeLessThan(1e-6);
  params.dispose();
});

test('the number of threads changes no bit of the gradients', async () => {
  const sequences = randomSequences(LENGTHS);
  const results: Map<string, Float32Array>[] = [];
  const x = Float32Array.from({ length: 4096 * 64 }, (_, i) => Math.sin(i)); // enough for several partial sums
  for (const threads of [1, 2, 3]) {
    device = await openDevice({ device: 'cpu', threads, shareCycles: 1 });
    const params = tinyParams();
    const all = await values(step(params, sequences));
    const input = tf.tensor2d(x, [4096, 64]);
    const grads = tf.grads((rows, gain) => tf.sum(tf.square(rmsNorm(rows!, gain!, 1e-6))))([
      input,
      tf.ones([64]),
    ]);
    all.set('gain', (await grads[1]!.data()) as Float32Array);
    all.set(
      'norm',
      (await gradientNorm([input], { clipNorm: 1, skipNorm: 1e9 }).norm.data()) as Float32Array,
    );
    results.push(all);
  }
  expectClose(results[0]!, results[1]!, 0);
  expectClose(results[0]!, results[2]!, 0);
});

test('a frozen copy has zero divergence at step 0 and stays when the original moves', async () => {
  const params = tinyParams();
  const frozen = params.clone();
  const batch = packSequences(randomSequences(LENGTHS));
  const kl = async (): Promise<number> => {
    const difference = tf.tidy(() =>
      tf.sub(tokenLogProbs(params, batch).logp, tokenLogProbs(frozen, batch).logp),
    );
    const ratios = (await difference.data()) as Float32Array;
    return ratios.reduce((sum, r) => sum + Math.exp(-r) - 1 + r, 0) / ratios.length; // k3
  };
  expect(await kl()).toBeLessThan(1e-8);
  const before = await snapshot(frozen);
  await train(params, new AdamW(params), 0, 3);
  expect(await kl()).toBeGreaterThan(1e-8);
  expectClose(await snapshot(frozen), before, 0);
});

test('an averaged copy is tau * new + (1 - tau) * old', async () => {
  const [old, fresh] = [tinyParams('old'), tinyParams('new')];
  const before = await snapshot(old);
  const target = await snapshot(fresh);
  old.emaFrom(fresh, 0.25);
  const after = await snapshot(old);
  for (const [name, x] of after) {
    const wanted = x.map((_, i) => 0.25 * target.get(name)![i]! + 0.75 * before.get(name)![i]!);
    expect(relativeDifference(wanted, x), name).toBeLessThan(1e-6);
  }
});

test('a resumed run is the uninterrupted run, bit for bit', async () => {
  const whole = tinyParams();
  await train(whole, new AdamW(whole, { weightDecay: 0.1 }), 0, 6);

  const first = tinyParams();
  const optimiser = new AdamW(first, { weightDecay: 0.1 });
  await train(first, optimiser, 0, 3);
  const saved: Tensors = await first.toTensors();
  const state = await optimiser.exportState();
  first.dispose();
  const second = paramsFrom(TINY, saved);
  const resumed = new AdamW(second, { weightDecay: 0.1 });
  resumed.importState(state);
  await train(second, resumed, 3, 6);

  expect(resumed.steps).toBe(6);
  expectClose(await snapshot(whole), await snapshot(second), 0);
});

test('neither tensors nor memory grow over 200 steps of changing sizes', async () => {
  const params = tinyParams();
  const optimiser = new AdamW(params);
  const counts: number[] = [];
  const bytes: number[] = [];
  for (let i = 0; i < 200; i++) {
    const result = step(params, randomSequences([5 + (i % 23), 2 + (i % 7)], `grow/${i}`));
    optimiser.step(result.grads).dispose();
    disposeResult(result);
    counts.push(tf.memory().numTensors);
    bytes.push(device.memory().bytes);
  }
  expect(new Set(counts.slice(2)).size).toBe(1);
  expect(new Set(bytes.slice(2)).size).toBe(1);
});

test('no zeros are made on the host for outputs that serve a kernel’s own gradient alone', () => {
  const params = tinyParams();
  const backend = tf.backend();
  const write = backend.write.bind(backend);
  const zeros: number[] = [];
  backend.write = (values, shape, dtype) => {
    if (values && values.length > 1 && (values as Float32Array).every((value) => value === 0))
      zeros.push(values.length);
    return write(values, shape, dtype);
  };
  try {
    disposeResult(step(params, randomSequences(LENGTHS)));
  } finally {
    backend.write = write;
    params.dispose();
  }
  expect(zeros).toEqual([]);
});
