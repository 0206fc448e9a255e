import { existsSync } from 'node:fs';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { Random } from '../../core/random.ts';
import { type Device, openDevice } from '../../learner/device/device.ts';
import { multiply } from '../../learner/device/webgpu/gemm.ts';
import type { GpuBackend } from '../../learner/device/webgpu/gpu-backend.ts';
import { AdamW } from '../../learner/nn/adamw.ts';
import { createLora } from '../../learner/nn/lora.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import { readTensors } from '../../learner/nn/trainable.ts';
import * as tf from '../../learner/tfjs.ts';
import { REFERENCE_MODELS } from './engine-checkpoints.ts';
import { expectReferenceGradients } from './engine-reference-check.ts';
import { randomSequences, relativeDifference, tinyParams } from './engine-tiny.ts';

// Chromium's software driver, where no other is configured: slow, but it computes what the specification says.
const SOFTWARE_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
const VULKAN = '/usr/lib/x86_64-linux-gnu/libvulkan.so.1';
if (!process.env.VK_ICD_FILENAMES && existsSync(SOFTWARE_DRIVER))
  process.env.VK_ICD_FILENAMES = SOFTWARE_DRIVER;

vi.setConfig({ testTimeout: 120_000 }); // a software driver compiles each shader for seconds
const languageBefore = globalThis.navigator?.language;
await openDevice({ device: 'cpu', threads: 1 });
const stepsOnCpu = await threeSteps();
const adaptedOnCpu = await threeSteps(true);
const device = await openDevice({ device: 'webgpu' }).catch((error: Error) => error.message);
const reason = typeof device === 'string' ? device : undefined;
afterAll(() => {
  if (typeof device === 'object') device.close();
});

/** The losses and what was trained: all weights, or an adapter. */
async function threeSteps(adapted = false): Promise<number[]> {
  const params = tinyParams();
  const adapter = adapted ? createLora(params, { rank: 3, alpha: 6 }, 'gpu') : undefined;
  const trained = adapter ?? params;
  const optimiser = new AdamW(trained, { lr: 1e-2, weightDecay: 0.1 });
  const losses: tf.Scalar[] = [];
  for (let i = 0; i < 3; i++) {
    const batch = packSequences(randomSequences([70, 9, 131], `gpu/${i}`));
    const result = lossAndGrads(trained, () => {
      const { logp, entropy } = tokenLogProbs(params, batch, { temperature: 0.8, adapter });
      return tf.neg(tf.mean(tf.add(logp, tf.mul(0.1, entropy)))) as tf.Scalar;
    });
    losses.push(result.loss.clone());
    optimiser.step(result.grads).dispose();
    disposeResult(result);
  }
  const values: number[] = [];
  for (const loss of losses) values.push(...(await loss.data()));
  for (const { data } of (await readTensors(trained)).values()) values.push(...data);
  return values;
}

// A machine may have no driver. That Dawn itself does not start is a fault of ours, and skips nothing.
test.runIf(process.platform === 'linux')('WebGPU starts on this Node, with or without a driver', () => {
  expect(reason ?? '').not.toContain('does not start');
  // What it puts in the place of Node's navigator answers as that does: libraries ask for its languages.
  expect(navigator.userAgent).toMatch(/^node\//);
  expect(typeof navigator.language).toBe(typeof languageBefore);
  if (process.env.VK_ICD_FILENAMES && existsSync(VULKAN)) expect(reason).toBeUndefined();
});

describe.skipIf(reason)(`WebGPU${reason ? `, skipped: ${reason}` : ''}`, () => {
  test.each(REFERENCE_MODELS)(
    '%s: log-probabilities, entropies and gradients match float64',
    async (name) => {
      await expectReferenceGradients(name);
    },
  );

  test('training steps give the weights of the CPU, over sequences longer than a workgroup', async () => {
    expect(relativeDifference(stepsOnCpu, await threeSteps())).toBeLessThan(1e-4);
  });

  test('training steps of an adapter give that of the CPU', async () => {
    expect(relativeDifference(adaptedOnCpu, await threeSteps(true))).toBeLessThan(1e-4);
  });

  test('a step reads nothing from the GPU and leaves no tensor behind', async () => {
    const params = tinyParams();
    const optimiser = new AdamW(params);
    const batch = packSequences(randomSequences([12, 30]));
    const counts: number[] = [];
    let reads = 0;
    const backend = tf.backend();
    const read = backend.read.bind(backend);
    backend.read = (id) => {
      reads++;
      return read(id);
    };
    for (let i = 0; i < 4; i++) {
      const result = lossAndGrads(
        params,
        () => tf.neg(tf.mean(tokenLogProbs(params, batch).logp)) as tf.Scalar,
      );
      optimiser.step(result.grads).dispose();
      disposeResult(result);
      counts.push(tf.memory().numTensors);
    }
    expect(reads).toBe(0);
    expect(new Set(counts.slice(1)).size).toBe(1);
    backend.read = read;
  });

  test.each([
    { per: 4, transposeA: false, transposeB: true },
    { per: 8, transposeA: true, transposeB: false },
  ] as const)('products with offsets, split along a long inner dimension: %o', async (settings) => {
    const { transposeA, transposeB } = settings;
    const [m, n, k] = [141, 133, 600];
    const random = new Random('products');
    const numbers = (size: number): Float32Array =>
      Float32Array.from({ length: size }, () => random.normal());
    const [a, b, c] = [numbers(7 + m * k), numbers(k * n), numbers(m * n)];
    const wanted = c.map((start, at) => {
      const [i, j] = [Math.floor(at / n), at % n];
      let sum = start;
      for (let p = 0; p < k; p++)
        sum += a[7 + (transposeA ? p * m + i : i * k + p)]! * b[transposeB ? j * k + p : p * n + j]!;
      return sum;
    });
    const out = tf.tensor(c);
    const operands = { a: tf.tensor(a), b: tf.tensor(b), c: out };
    multiply(tf.backend() as GpuBackend, { m, n, k, ...operands, aOffset: 7, add: true, ...settings });
    expect(relativeDifference(wanted, await out.data())).toBeLessThan(1e-5);
  });

  test('memory stays near what one step needs when batches change in size', async () => {
    const params = tinyParams();
    const bytes: number[] = [];
    for (let i = 0; i < 10; i++) {
      const batch = packSequences(randomSequences([40 + 3 * i, 20 + i], `memory/${i}`));
      disposeResult(
        lossAndGrads(params, () => tf.neg(tf.mean(tokenLogProbs(params, batch).logp)) as tf.Scalar),
      );
      await (device as Device).flush();
      bytes.push((device as Device).memory().bytes);
    }
    // Batches grow to 1.6 times the first; with every size kept it would be about ten times as much.
    expect(Math.max(...bytes)).toBeLessThan(2 * 1.6 * bytes[0]! + (1 << 20));
  });

  test('an error of the GPU ends the run instead of leaving zeros', async () => {
    const backend = tf.backend() as GpuBackend;
    const y = backend.output([4]);
    const broken = {
      source: 'fn main() { nonsense }',
      outputs: { y },
      inputs: {},
      uniforms: { n: 1 },
      groups: 1,
    };
    backend.dispatch(broken);
    await expect(backend.finish()).rejects.toThrow(/GPU reported.*resume from the last checkpoint/s);
    expect(() => backend.dispatch(broken)).toThrow(/GPU reported/);
  });
});
