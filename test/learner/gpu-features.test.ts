/**
 * What a GPU device does with the features that its adapter has: kernels by subgroups give the numbers of those without, and a frozen base in two
 * bytes a value the bits of the same values in float32, with `shader-f16` and without.
 */
import { existsSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { placeHalf } from '../../learner/device/place-half.ts';
import { GPU_FEATURES, type GpuFeature, requestGpu } from '../../learner/device/webgpu/adapter.ts';
import type { GpuBackend } from '../../learner/device/webgpu/gpu-backend.ts';
import { lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { frozenParamsFrom, type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { gatherRows } from '../../learner/ops/gather-rows.ts';
import { copyOf, gradientNorm } from '../../learner/ops/in-place.ts';
import { adaptedLinear } from '../../learner/ops/linear.ts';
import { rmsNorm } from '../../learner/ops/rms-norm.ts';
import { runKernel } from '../../learner/ops/run-kernel.ts';
import { tokenLogProb } from '../../learner/ops/token-log-prob.ts';
import * as tf from '../../learner/tfjs.ts';
import { fromBfloat16, fromHalf } from '../../model/half.ts';
import { randomCheckpoint } from '../../model/init.ts';
import { readSafetensors, writeSafetensors } from '../../model/safetensors.ts';
import { NIGHT } from '../night.ts';
import { relativeDifference, TINY } from './engine-tiny.ts';

// Chromium's software driver, where no other is configured; it has subgroups of 4 threads and no f16.
const SOFTWARE_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
if (!process.env.VK_ICD_FILENAMES && existsSync(SOFTWARE_DRIVER))
  process.env.VK_ICD_FILENAMES = SOFTWARE_DRIVER;

const found = await requestGpu();
const missing = typeof found === 'string' ? found : undefined;
const has: ReadonlySet<GpuFeature> = typeof found === 'string' ? new Set() : found.features;
if (typeof found !== 'string') found.device.destroy();
/** None of the features, and each that the adapter has. */
const SETS = [
  { called: 'no feature', set: [] as readonly GpuFeature[] },
  ...GPU_FEATURES.filter((name) => has.has(name)).map((name) => ({ called: name, set: [name] })),
];

let device: Device | undefined;
const close = (): void => {
  device?.close();
  device = undefined;
};
afterEach(close);
afterAll(close);

/** Opens the device with some features, and collects the shaders that it compiles from there on. */
async function opened(gpuFeatures: readonly GpuFeature[]): Promise<string[]> {
  close();
  device = await openDevice({ device: 'webgpu', gpuFeatures });
  const shaders: string[] = [];
  const gpu = (tf.backend() as GpuBackend).device;
  const create = gpu.createShaderModule.bind(gpu);
  gpu.createShaderModule = (descriptor) => {
    shaders.push(descriptor.code);
    return create(descriptor);
  };
  return shaders;
}

const numbers = (seed: string, size: number): Float32Array => {
  const random = new Random(seed);
  return Float32Array.from({ length: size }, () => random.normal());
};
const sum = (count: number, term: (i: number) => number): number =>
  Array.from({ length: count }, (_, i) => term(i)).reduce((a, b) => a + b, 0);

describe.skipIf(missing)(`features of the GPU${missing ? `, skipped: ${missing}` : ''}`, () => {
  test('a device says which features it was opened with, and is opened with none that is not asked for', async () => {
    await opened(GPU_FEATURES);
    for (const name of GPU_FEATURES)
      expect(device!.description.includes(`, ${name}`), name).toBe(has.has(name));
    await opened([]);
    for (const name of GPU_FEATURES) expect(device!.description).not.toContain(name);
    const { features } = (tf.backend() as GpuBackend).device;
    for (const name of GPU_FEATURES) expect(features.has(name)).toBe(false);
  });

  test.each(SETS)(
    'reductions over rows, columns and whole tensors are those of float64, with $called',
    async ({ set }) => {
      const shaders = await opened(set);
      // Widths below a workgroup, and above it and no multiple of it.
      for (const [rows, width] of [
        [7, 20],
        [3, 196],
      ] as const) {
        const [x, gain, dy] = [
          numbers('x', rows * width),
          numbers('gain', width),
          numbers('dy', rows * width),
        ];
        const placed = {
          x: tf.tensor2d(x, [rows, width]),
          gain: tf.tensor1d(gain),
          dy: tf.tensor2d(dy, [rows, width]),
        };
        const inverse = Array.from(
          { length: rows },
          (_, r) => 1 / Math.sqrt(sum(width, (j) => x[r * width + j]! ** 2) / width + 1e-5),
        );
        const normed = await rmsNorm(placed.x, placed.gain, 1e-5).data();
        expect(
          relativeDifference(
            Array.from(x, (value, i) => value * inverse[Math.floor(i / width)]! * gain[i % width]!),
            normed,
          ),
        ).toBeLessThan(1e-6);

        const [dx, dgain] = runKernel('RmsNormGrad', { ...placed, inverse: tf.tensor1d(inverse) });
        const wanted = Array.from(x, (value, i) => {
          const [r, j] = [Math.floor(i / width), i % width];
          const dot = sum(width, (e) => x[r * width + e]! * gain[e]! * dy[r * width + e]!);
          return inverse[r]! * gain[j]! * dy[i]! - (dot * inverse[r]! ** 3 * value) / width;
        });
        expect(relativeDifference(wanted, await dx!.data())).toBeLessThan(2e-6);
        const byColumn = (term: (i: number) => number) =>
          Array.from({ length: width }, (_, j) => sum(rows, (r) => term(r * width + j)));
        expect(
          relativeDifference(
            byColumn((i) => x[i]! * dy[i]! * inverse[Math.floor(i / width)]!),
            await dgain!.data(),
          ),
        ).toBeLessThan(2e-6);
        const [sums] = runKernel('ColumnSums', { x: placed.x });
        expect(
          relativeDifference(
            byColumn((i) => x[i]!),
            await sums!.data(),
          ),
        ).toBeLessThan(2e-6);

        const { norm } = gradientNorm([placed.x, placed.gain], { clipNorm: 1, skipNorm: 1e6 });
        expect(
          relativeDifference(
            [Math.sqrt(sum(x.length, (i) => x[i]! ** 2) + sum(width, (i) => gain[i]! ** 2))],
            await norm.data(),
          ),
        ).toBeLessThan(1e-6);

        // Log-sum-exp over a vocabulary of `rows` · 37 tokens.
        const vocab = 37 * rows;
        const weight = numbers('weight', vocab * width);
        const ids = Int32Array.from({ length: rows }, (_, r) => (5 * r + 2) % vocab);
        const scored = tokenLogProb(placed.x, tf.tensor2d(weight, [vocab, width]), tf.tensor1d(ids, 'int32'));
        const logits = Array.from({ length: rows }, (_, r) =>
          Array.from({ length: vocab }, (_, v) =>
            sum(width, (j) => x[r * width + j]! * weight[v * width + j]!),
          ),
        );
        const logSums = logits.map((row) => {
          const top = Math.max(...row);
          return top + Math.log(sum(vocab, (v) => Math.exp(row[v]! - top)));
        });
        expect(
          relativeDifference(
            logits.map((row, r) => row[ids[r]!]! - logSums[r]!),
            await scored.logp.data(),
          ),
        ).toBeLessThan(2e-6);
        const entropies = logits.map(
          (row, r) => -sum(vocab, (v) => Math.exp(row[v]! - logSums[r]!) * (row[v]! - logSums[r]!)),
        );
        expect(relativeDifference(entropies, await scored.entropy.data())).toBeLessThan(1e-5);
      }
      const bySubgroups = shaders.filter(
        (code) => code.includes('subgroupAdd(') || code.includes('subgroupMax('),
      );
      const reducing = shaders.filter((code) => code.includes('sum_all('));
      expect(reducing.length).toBeGreaterThanOrEqual(6);
      expect(bySubgroups).toHaveLength(set.includes('subgroups') ? reducing.length : 0);
    },
  );

  test.each(SETS)(
    'every number of two bytes is read as the value that it stands for, with $called',
    async ({ set }) => {
      const shaders = await opened(set);
      const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
      for (const [type, widened] of [
        ['BF16', fromBfloat16],
        ['F16', fromHalf],
      ] as const) {
        // Numbers that are finite and, in float32, no smaller than a GPU has to keep.
        const finite = bits.filter((_, i) => {
          const [value] = widened(bits.subarray(i, i + 1));
          return Number.isFinite(value!) && (value === 0 || Math.abs(value!) >= 2 ** -126);
        });
        const half = placeHalf([finite.length, 1], type, finite);
        expect(await half.data()).toEqual(widened(finite));
        expect(await copyOf(half).data()).toEqual(widened(finite));
        // tfjs' own kernels know nothing of it.
        expect(await tf.neg(half).data()).toEqual(widened(finite).map((x) => -x));
        half.dispose();
      }
      expect(shaders.some((code) => code.includes('enable f16;'))).toBe(set.includes('shader-f16'));
    },
  );

  test.each(SETS.filter(({ called }) => called !== 'subgroups'))(
    'a step under adapters on a frozen base gives the bits of its float32 values in half the memory, and the numbers of the CPU, with $called',
    async ({ set }) => {
      const checkpoint = randomCheckpoint(TINY, 'frozen');
      const values = [...checkpoint.values()].reduce((all, { data }) => all + data.length, 0);
      const [vocab, width, rank, tokens] = [61, 32, 3, 21];
      const ids = Int32Array.from({ length: tokens }, (_, t) => (7 * t) % vocab);
      /** Two projections under adapters between a lookup and the output of one table, as a model with tied embeddings has them. */
      const step = async ({ tensors }: ParamSet): Promise<number[]> => {
        const pairs = ['first', 'second'].map((name) => ({
          a: tf.tensor2d(numbers(`${name} A`, rank * width), [rank, width]),
          b: tf.tensor2d(numbers(`${name} B`, width * rank), [width, rank]),
        }));
        const trained = new Map<string, tf.Tensor>(
          pairs.flatMap(({ a, b }, i) => [
            [`a${i}`, a],
            [`b${i}`, b],
          ]),
        );
        const table = tensors.get('model.embed_tokens.weight') as tf.Tensor2D;
        const { grads, loss } = lossAndGrads({ tensors: trained }, () => {
          let x = gatherRows(table, ids);
          for (const [i, name] of ['k', 'v'].entries())
            x = adaptedLinear(
              x,
              [tensors.get(`model.layers.0.self_attn.${name}_proj.weight`)!],
              [pairs[i]!],
            )[0]!;
          const { logp } = tokenLogProb(x, table, tf.tensor1d(ids, 'int32'), { trainsWeight: false });
          return tf.neg(tf.mean(logp)) as tf.Scalar;
        });
        const all: number[] = [...(await loss.data())];
        for (const gradient of grads.values()) all.push(...(await gradient.data()));
        return all;
      };
      // Float16 is read by the same shaders, but for how a number is widened, which the test above compares.
      const types = NIGHT ? (['BF16', 'F16'] as const) : (['BF16'] as const);
      close();
      device = await openDevice({ device: 'cpu', threads: 1 });
      const onCpu = new Map<string, readonly number[]>();
      for (const dtype of types)
        onCpu.set(dtype, await step(paramsFrom(TINY, readSafetensors(writeSafetensors(checkpoint, dtype)))));
      await opened(set);
      const backend = tf.backend() as GpuBackend;
      for (const dtype of types) {
        const file = writeSafetensors(checkpoint, dtype);
        const before = backend.memory().numBytesInGPU;
        const halves = frozenParamsFrom(TINY, file);
        await device!.flush();
        const held = backend.memory().numBytesInGPU - before;
        expect(held).toBeGreaterThan(values);
        expect(held).toBeLessThan(2.2 * values);
        const found = await step(halves);
        expect(found.length).toBe(1 + 4 * rank * width);
        expect(found.every((x) => Number.isFinite(x) && x !== 0)).toBe(true);
        expect(relativeDifference(onCpu.get(dtype)!, found), dtype).toBeLessThan(1e-5);
        // Nothing widened them for good on the way.
        for (const [name, tensor] of halves.tensors)
          expect(backend.isHalf(tensor), name).toBe(tensor.rank === 2);
        halves.dispose();
        const whole = paramsFrom(TINY, readSafetensors(file));
        expect(found, dtype).toEqual(await step(whole));
        whole.dispose();
      }
    },
  );
});
