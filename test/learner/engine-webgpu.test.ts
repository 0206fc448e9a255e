import { existsSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import type { LearnTools, Sequence, SftPart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { multiply, multiplyAll } from '../../learner/device/webgpu/gemm.ts';
import type { GpuBackend } from '../../learner/device/webgpu/gpu-backend.ts';
import { AdamW } from '../../learner/nn/adamw.ts';
import { createLora } from '../../learner/nn/lora.ts';
import { accumulate, disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import { readTensors } from '../../learner/nn/trainable.ts';
import { copyOf } from '../../learner/ops/in-place.ts';
import * as tf from '../../learner/tfjs.ts';
import { BENCH_CONFIGS, benchBatch, benchWeights, modelConfig } from '../bench/learner-configs.ts';
import { TINY_NAMES } from '../model/architectures.ts';
import { SEEING, SEEING_NAMES, scored } from '../model/seeing.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';
import { expectArchitecture, expectForward } from './engine-architecture-check.ts';
import { REFERENCE_MODELS } from './engine-checkpoints.ts';
import { expectReferenceGradients } from './engine-reference-check.ts';
import { randomSequences, relativeDifference, tinyParams } from './engine-tiny.ts';
import { sequences, teach, version } from './plan-fixture.ts';

// Chromium's software driver, where no other is configured: slow, but it computes what the specification says.
const SOFTWARE_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
const VULKAN = '/usr/lib/x86_64-linux-gnu/libvulkan.so.1';
if (!process.env.VK_ICD_FILENAMES && existsSync(SOFTWARE_DRIVER))
  process.env.VK_ICD_FILENAMES = SOFTWARE_DRIVER;

const languageBefore = globalThis.navigator?.language;
await openDevice({ device: 'cpu', threads: 1 });
const stepsOnCpu = await threeSteps();
const adaptedOnCpu = NIGHT ? await threeSteps(true) : [];
const alignedOnCpu = NIGHT ? await aligned() : [];
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

/** Products of gradients that a recipe asks for, plain and as AdamW would scale them at its second step; and what an update of a layer that it tries comes to. */
async function aligned(): Promise<number[]> {
  const given = sequences(4, 50, 3, 6);
  const sft = (...items: Sequence[]): SftPart => ({ kind: 'sft', role: 'solver', weight: 1, items });
  const parts = given.map((one) => sft(one));
  const start = version('alignment');
  const { files } = await teach({ updates: [{ set: 'main', parts }] }, { versions: [start] });
  const told: number[] = [];
  const ask = async (_: unknown, tools: LearnTools) => {
    for (const how of [{}, { measure: 'cosine' }, { measure: 'cosine', scaled: 'adam' }] as const)
      told.push(...(await tools.alignment('main', parts, sft(given[0]!, given[3]!), how)));
    const only = { layers: [0], learningRate: 1e-3 };
    for (const row of await tools.trial('main', [{ parts: [parts[1]!], epochs: 2, only }], given))
      told.push(...row);
    return { updates: [] };
  };
  await teach(ask, { versions: [start, files] });
  return told;
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

  test.runIf(NIGHT).each(TINY_NAMES)(
    `%s: log-probabilities and gradients match float64${IN_THE_NIGHT}`,
    expectArchitecture,
  );

  test.runIf(NIGHT).each(SEEING_NAMES)(
    `%s that sees: log-probabilities and gradients match float64${IN_THE_NIGHT}`,
    (name) => expectForward(SEEING[name], scored()),
  );

  test('training steps give the weights of the CPU, over sequences longer than a workgroup', async () => {
    expect(relativeDifference(stepsOnCpu, await threeSteps())).toBeLessThan(1e-4);
  });

  // In the check a step under adapters is compared with the CPU's in gpu-features, and what else a model's step consists of here.
  test.runIf(NIGHT)(`training steps of an adapter give that of the CPU${IN_THE_NIGHT}`, async () => {
    expect(relativeDifference(adaptedOnCpu, await threeSteps(true))).toBeLessThan(1e-4);
  });

  test.runIf(NIGHT)(`products of gradients and trials are those of the CPU${IN_THE_NIGHT}`, async () => {
    expect(relativeDifference(alignedOnCpu, await aligned())).toBeLessThan(1e-4);
  });

  test('gradients of micro-batches add up to those of the batch', async () => {
    const params = tinyParams();
    const sequences = randomSequences([40, 23, 31], 'micro');
    const of = (some: typeof sequences) =>
      lossAndGrads(
        params,
        () => tf.neg(tf.sum(tokenLogProbs(params, packSequences(some)).logp)) as tf.Scalar,
      );
    const whole = of(sequences);
    const summed = of(sequences.slice(0, 1));
    accumulate(summed, of(sequences.slice(1)));
    for (const [name, gradient] of whole.grads)
      expect(
        relativeDifference(await gradient.data(), await summed.grads.get(name)!.data()),
        name,
      ).toBeLessThan(1e-5);
    for (const result of [whole, summed]) disposeResult(result);
    params.dispose();
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

  test('AdamW is one dispatch, after which the parameters lie in one buffer and are read, copied and disposed as before', async () => {
    const backend = tf.backend() as GpuBackend;
    await (device as Device).flush();
    const before = { tensors: tf.memory().numTensors, bytes: backend.memory().numBytesInGPU };
    const random = new Random('placed');
    // More tensors than a shader stage binds, of sizes that are no multiple of a vector, with and without weight decay.
    const shapes = [[5, 7], [13], [64], [3, 3], [130], [2, 2], [1], [9, 4], [31], [6, 2], [4], [17, 5], [8]];
    const values = shapes.map((shape) =>
      Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => random.normal()),
    );
    const place = (): Map<string, tf.Tensor> =>
      new Map(shapes.map((shape, i) => [`p${i}`, tf.keep(tf.tensor(values[i]!, shape))]));
    const settings = { lr: 0.1, weightDecay: 0.2, clipNorm: 1e9 };
    const wanted = values.map((x) => Float64Array.from(x));
    const [means, squares] = [values, values].map((all) => all.map((x) => new Float64Array(x.length))) as [
      Float64Array[],
      Float64Array[],
    ];
    const tensors = place();
    const optimiser = new AdamW({ tensors }, settings);
    for (let step = 1; step <= 3; step++) {
      const grads = values.map((x) => x.map(() => random.normal()));
      const placed = new Map(grads.map((grad, i) => [`p${i}`, tf.tensor(grad, shapes[i]!)]));
      const dispatches = backend.dispatches;
      optimiser.step(placed).dispose();
      // The squares of as many gradients as are bound beside two other buffers, the norm, and the update.
      const { maxStorageBuffersPerShaderStage: buffers } = backend.device.limits;
      if (buffers >= 12) expect(backend.dispatches - dispatches).toBe(Math.ceil(13 / (buffers - 2)) + 2);
      tf.dispose([...placed.values()]);
      for (const [i, grad] of grads.entries())
        for (const [e, g] of grad.entries()) {
          means[i]![e] = 0.9 * means[i]![e]! + 0.1 * g;
          squares[i]![e] = 0.999 * squares[i]![e]! + 0.001 * g * g;
          const direction =
            means[i]![e]! / (1 - 0.9 ** step) / (Math.sqrt(squares[i]![e]! / (1 - 0.999 ** step)) + 1e-8);
          wanted[i]![e] = wanted[i]![e]! * (1 - 0.1 * (shapes[i]!.length > 1 ? 0.2 : 0)) - 0.1 * direction;
        }
    }
    for (const [i, tensor] of [...tensors.values()].entries()) {
      expect(relativeDifference(wanted[i]!, await tensor.data()), `p${i}`).toBeLessThan(1e-5);
      // A kernel of tfjs, and one of ours, read a part of the buffer; an optimiser of some of them moves them again.
      const [twice, copy] = [tf.add(tensor, tensor), copyOf(tensor)];
      expect(
        relativeDifference(
          wanted[i]!.map((x) => 2 * x),
          await twice.data(),
        ),
      ).toBeLessThan(1e-5);
      expect(relativeDifference(wanted[i]!, await copy.data())).toBeLessThan(1e-5);
      tf.dispose([twice, copy]);
    }
    const some = new Map([...tensors].slice(3, 6));
    const other = new AdamW({ tensors: some }, { ...settings, lr: 0, weightDecay: 0 });
    const zeros = new Map([...some].map(([name, tensor]) => [name, tf.onesLike(tensor)]));
    other.step(zeros).dispose();
    tf.dispose([...zeros.values()]);
    for (const [i, tensor] of [...tensors.values()].entries())
      expect(relativeDifference(wanted[i]!, await tensor.data()), `p${i}`).toBeLessThan(1e-5);
    other.dispose();
    optimiser.dispose();
    tf.dispose([...tensors.values()]);
    await (device as Device).flush();
    expect(tf.memory().numTensors).toBe(before.tensors);
    expect(backend.memory().numBytesInGPU).toBe(before.bytes);
  });

  test('a step of four layers takes at most 150 dispatches, whose number is what a small model’s step costs', () => {
    // Narrow, since a software driver computes what is counted here.
    const { c1 } = BENCH_CONFIGS;
    const bench = { ...c1!, hf: { ...c1!.hf, hidden_size: 32, intermediate_size: 96 } };
    const params = paramsFrom(modelConfig(bench), benchWeights(bench));
    const optimiser = new AdamW(params);
    const backend = tf.backend() as GpuBackend;
    const dispatchesOf = (sequences: number) => {
      const batch = packSequences(benchBatch(bench).sequences.slice(0, sequences));
      const before = backend.dispatches;
      const result = lossAndGrads(params, () => tf.mean(tokenLogProbs(params, batch).logp) as tf.Scalar);
      optimiser.step(result.grads).dispose();
      disposeResult(result);
      return backend.dispatches - before;
    };
    dispatchesOf(1); // the first builds the table of rotations
    // Of 528 tokens, so that weights' gradients are split along them, as they are in a larger batch.
    const dispatches = dispatchesOf(11);
    expect(params.config.layers).toHaveLength(4);
    // 39 tensors are updated, and each layer has seven products forwards and fourteen backwards.
    expect(dispatches).toBeGreaterThan(80);
    expect(dispatches).toBeLessThanOrEqual(150);
    params.dispose();
    optimiser.dispose();
  });

  test('several products in one dispatch: of other sizes, summed, added to, and split along the inner dimension', async () => {
    const random = new Random('several');
    const numbers = (size: number) => Float32Array.from({ length: size }, () => random.normal());
    const placed = (values: Float32Array) => tf.tensor1d(values);
    /** The value of A B at (i, j), of A [m, k] and B [k, n] by their functions of an index. */
    const dot = (k: number, a: (p: number) => number, b: (p: number) => number): number => {
      let sum = 0;
      for (let p = 0; p < k; p++) sum += a(p) * b(p);
      return sum;
    };
    const matrix = (m: number, n: number, at: (i: number, j: number) => number): number[] =>
      Array.from({ length: m * n }, (_, e) => at(Math.floor(e / n), e % n));
    const backend = tf.backend() as GpuBackend;
    const expectClose = async (wanted: readonly number[], found: tf.Tensor, what: string) =>
      expect(relativeDifference(wanted, await found.data()), what).toBeLessThan(1e-5);

    // x W0^T + r and x W1^T.
    const [x, w0, w1, r] = [numbers(70 * 96), numbers(130 * 96), numbers(33 * 96), numbers(70 * 130)];
    const [y0, y1] = [placed(numbers(70 * 130)), placed(numbers(70 * 33))];
    const [px, p0, p1] = [placed(x), placed(w0), placed(w1)];
    multiplyAll(
      backend,
      [
        { m: 70, n: 130, c: y0, addend: placed(r), factors: [{ k: 96, a: px, b: p0 }] },
        { m: 70, n: 33, c: y1, factors: [{ k: 96, a: px, b: p1 }] },
      ],
      { transposeB: true },
    );
    const forward = (w: Float32Array) => (i: number, j: number) =>
      dot(
        96,
        (p) => x[i * 96 + p]!,
        (p) => w[j * 96 + p]!,
      );
    const first = matrix(70, 130, (i, j) => r[i * 130 + j]! + forward(w0)(i, j));
    const second = matrix(70, 33, forward(w1));
    await expectClose(first, y0, 'with an addend');
    await expectClose(second, y1, 'beside it');

    // y0 W0 + y1 W1.
    const sum = placed(numbers(70 * 96));
    const factors = [
      { k: 130, a: y0, b: p0 },
      { k: 33, a: y1, b: p1 },
    ];
    multiplyAll(backend, [{ m: 70, n: 96, c: sum, factors }], {});
    const back = (k: number, y: readonly number[], w: Float32Array, i: number, j: number) =>
      dot(
        k,
        (p) => y[i * k + p]!,
        (p) => w[p * 96 + j]!,
      );
    await expectClose(
      matrix(70, 96, (i, j) => back(130, first, w0, i, j) + back(33, second, w1, i, j)),
      sum,
      'a sum',
    );

    // d0^T z + s and d1^T z over 1024 rows, which four slices share.
    const [z, d0, d1, s] = [numbers(1024 * 40), numbers(1024 * 17), numbers(1024 * 65), numbers(17 * 40)];
    const [g0, g1, pz] = [placed(numbers(17 * 40)), placed(numbers(65 * 40)), placed(z)];
    multiplyAll(
      backend,
      [
        { m: 17, n: 40, c: g0, addend: placed(s), factors: [{ k: 1024, a: placed(d0), b: pz }] },
        { m: 65, n: 40, c: g1, factors: [{ k: 1024, a: placed(d1), b: pz }] },
      ],
      { transposeA: true },
    );
    const gradient = (d: Float32Array, m: number) => (i: number, j: number) =>
      dot(
        1024,
        (p) => d[p * m + i]!,
        (p) => z[p * 40 + j]!,
      );
    await expectClose(
      matrix(17, 40, (i, j) => s[i * 40 + j]! + gradient(d0, 17)(i, j)),
      g0,
      'slices with an addend',
    );
    await expectClose(matrix(65, 40, gradient(d1, 65)), g1, 'slices beside it');
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
    for (let i = 0; i < 6; i++) {
      const batch = packSequences(randomSequences([40 + 6 * i, 20 + 2 * i], `memory/${i}`));
      disposeResult(
        lossAndGrads(params, () => tf.neg(tf.mean(tokenLogProbs(params, batch).logp)) as tf.Scalar),
      );
      await (device as Device).flush();
      bytes.push((device as Device).memory().bytes);
    }
    // Batches grow to 1.7 times the first; with every size kept it would be about eight times as much.
    expect(Math.max(...bytes)).toBeLessThan(2 * 1.7 * bytes[0]! + (1 << 20));
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
