import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Random } from '../../core/random.ts';
import { Arena } from '../../learner/device/arena.ts';
import { compileKernels } from '../../learner/device/compile-kernels.ts';
import type { Device } from '../../learner/device/device.ts';
import { KernelRuntime } from '../../learner/device/kernel-runtime.ts';
import { nodeHost, openDevice } from '../../learner/device/node-host.ts';
import { kernelFile } from '../../learner/device/node-kernel-files.ts';
import { SimdBackend } from '../../learner/device/simd-backend.ts';
import { causalAttention } from '../../learner/ops/causal-attention.ts';
import { tokenLogProb } from '../../learner/ops/token-log-prob.ts';
import * as tf from '../../learner/tfjs.ts';
import { fromBfloat16 } from '../../model/half.ts';
import { relativeDifference } from './engine-tiny.ts';

const normal = (id: string, shape: number[], scale = 1): tf.Tensor => {
  const random = new Random(id);
  const size = shape.reduce((a, b) => a * b, 1);
  return tf.tensor(
    Float32Array.from({ length: size }, () => scale * random.normal()),
    shape,
  );
};

test.each(['simd', 'fma'] as const)(
  'the committed %s binary is what its source compiles to',
  async (variant) => {
    const committed = await readFile(kernelFile(variant));
    expect(Buffer.from(await compileKernels(variant)).equals(committed), 'run: npm run build:kernels').toBe(
      true,
    );
  },
);

test('the bits of a product do not depend on the shape of its tiles', async () => {
  const runtime = await KernelRuntime.start(nodeHost, {
    fma: true,
    threads: 1,
    revectorize: false,
    shareCycles: 1,
  });
  const { arena, memory } = runtime;
  const random = new Random('tiles');
  // Edges of both shapes in rows and columns, and sums in two blocks of k, the second added to the first.
  const [m, n, k] = [29, 43, 400];
  const put = (size: number): number => {
    const address = arena.allocate(4 * size);
    new Float32Array(memory.buffer, address, size).forEach((_, i, all) => {
      all[i] = random.normal();
    });
    return address;
  };
  const [a, b, start] = [put(m * k), put(k * n), put(m * n)];
  const product = (wide: 0 | 1): Float32Array => {
    const c = arena.allocate(4 * m * n);
    new Float32Array(memory.buffer, c, m * n).set(new Float32Array(memory.buffer, start, m * n));
    runtime.call('setWideTiles', wide);
    runtime.runShares('gemm', [m, n, k, a, k, 0, b, n, 0, c, n, 1], 1);
    return new Float32Array(memory.buffer, c, m * n).slice();
  };
  expect(product(1)).toEqual(product(0));
  runtime.stop();
});

test('a product by few columns, and one by bfloat16, have the bits of the general product of the same values', async () => {
  const runtime = await KernelRuntime.start(nodeHost, {
    fma: true,
    threads: 1,
    revectorize: false,
    shareCycles: 1,
  });
  const { arena, memory } = runtime;
  const random = new Random('thin');
  const floats = (address: number, size: number) => new Float32Array(memory.buffer, address, size);
  const put = (values: Float32Array | Uint16Array): number => {
    const address = arena.allocate(values.byteLength);
    const View = values instanceof Uint16Array ? Uint16Array : Float32Array;
    new View(memory.buffer, address, values.length).set(values);
    return address;
  };
  const some = (size: number) => Float32Array.from({ length: size }, () => random.normal());
  for (const wide of [0, 1])
    for (const [m, n, k] of [
      [9, 3, 300],
      [64, 16, 40],
      [31, 48, 513],
      [5, 70, 9],
    ] as const)
      for (const [ta, tb] of [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ] as const)
        for (const add of [0, 1]) {
          // Values of which the upper half is all there is.
          const bits = Uint16Array.from(
            { length: k * n },
            () => random.int(0x80) + 0x3f00 + (random.int(2) << 15),
          );
          const [a, b] = [put(some(m * k)), put(fromBfloat16(bits))];
          const halves = put(bits);
          const start = some(m * n);
          const operands = [m, n, k, a, ta ? m : k, ta];
          const product = (kernel: string, right: number): Float32Array => {
            const c = put(start);
            runtime.runShares(kernel, [...operands, right, tb ? k : n, tb, c, n, add], 3);
            const values = floats(c, m * n).slice();
            arena.release(c);
            return values;
          };
          // The shape of the tiles says how rows are shared, so that all shares are run by the one thread that has it.
          runtime.call('setWideTiles', wide);
          const what = `${[m, n, k]}, ${[ta, tb, add, wide]}`;
          const wanted = product('gemm', b);
          expect(product('gemmHalf', halves), what).toEqual(wanted);
          expect(product('gemmThin', b), what).toEqual(wanted);
          for (const address of [a, b, halves]) arena.release(address);
        }
  runtime.stop();
});

describe('products', () => {
  const SHAPES = [
    [1, 1, 1],
    [5, 7, 3],
    [13, 17, 300],
    [101, 259, 64],
    [7, 530, 33],
  ] as const;

  test.each([
    { fma: true, threads: 1, wide: false },
    { fma: false, threads: 2, wide: false },
    { fma: true, threads: 1, wide: true },
  ])('every shape and transposition agrees with plain loops: %o', async ({ fma, threads, wide }) => {
    const runtime = await KernelRuntime.start(nodeHost, { fma, threads, revectorize: false, shareCycles: 1 });
    if (wide) runtime.call('setWideTiles', 1); // as an engine with 256-bit pairs would
    const { arena, memory } = runtime;
    const random = new Random('products');
    for (const [m, n, k] of SHAPES)
      for (const [ta, tb] of [
        [false, false],
        [true, false],
        [false, true],
        [true, true],
      ] as const) {
        const [a, b, c] = [m * k, k * n, m * n].map((size) => {
          const address = arena.allocate(4 * size);
          return { address, values: new Float32Array(memory.buffer, address, size).map(() => 0) };
        });
        const view = (x: { address: number; values: Float32Array } | undefined) =>
          new Float32Array(memory.buffer, x!.address, x!.values.length);
        for (const x of [a, b, c])
          view(x).forEach((_, i, all) => {
            all[i] = random.normal();
          });
        const [A, B, C] = [view(a), view(b), view(c)];
        const wanted = Float64Array.from(C, (start, at) => {
          const [i, j] = [Math.floor(at / n), at % n];
          let sum = start;
          for (let p = 0; p < k; p++) sum += A[ta ? p * m + i : i * k + p]! * B[tb ? j * k + p : p * n + j]!;
          return sum;
        });
        const args = [m, n, k, a!.address, ta ? m : k, Number(ta), b!.address, tb ? k : n, Number(tb)];
        runtime.runShares('gemm', [...args, c!.address, n, 1], 3);
        expect(relativeDifference(wanted, C), `${m} ${n} ${k} ${ta} ${tb}`).toBeLessThan(
          1e-6 * Math.sqrt(k) + 1e-6,
        );
        for (const x of [a, b, c]) arena.release(x!.address);
      }
    runtime.stop();
  });
});

test('the allocator never hands out overlapping memory, merges what is freed, and names its limit', () => {
  const memory = new WebAssembly.Memory({ initial: 2, maximum: 64, shared: true });
  const arena = new Arena(memory, 65536, 64);
  const random = new Random('arena');
  const live = new Map<number, number>();
  for (let i = 0; i < 3000; i++) {
    if (random.bool(0.55) && live.size < 60) {
      const bytes = 1 + random.int(20000);
      const start = arena.allocate(bytes);
      expect(start % 64).toBe(0);
      for (const [other, size] of live) expect(start + bytes <= other || other + size <= start).toBe(true);
      live.set(start, bytes);
    } else if (live.size > 0) {
      const start = random.pick([...live.keys()]);
      live.delete(start);
      arena.release(start);
    }
  }
  for (const start of live.keys()) arena.release(start);
  expect(arena.bytes).toBe(0);
  // All merged again: one block of everything but the first page fits.
  const all = arena.allocate(63 * 65536 - 64);
  expect(all).toBe(65536);
  expect(() => arena.allocate(1000)).toThrow(/out of memory/);
});

describe('fused ops against tfjs ops', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ device: 'cpu', threads: 2, shareCycles: 1 });
  });
  afterAll(() => device.close());

  test('a comparison that is cast to numbers has room for all of them', async () => {
    const [a, b] = [normal('cast-a', [1000]), normal('cast-b', [1000])];
    const [left, right] = [await a.data<'float32'>(), await b.data<'float32'>()];
    const less = tf.cast(tf.less(a, b), 'float32');
    const once = tf.mul(less, 3);
    const doubled = tf.mul(a, 2);
    const again = tf.mul(less, 5);
    expect([...(await once.data())]).toEqual(Array.from(left, (x, i) => (x < right[i]! ? 3 : 0)));
    expect([...(await again.data())]).toEqual(Array.from(left, (x, i) => (x < right[i]! ? 5 : 0)));
    expect([...(await doubled.data())]).toEqual(Array.from(left, (x) => 2 * x));
  });

  test.each([
    ['in several blocks of logits', false],
    ['by logits that are kept for the backward pass', true],
  ])('log-probability, entropy and their gradients at a temperature, %s', async (_, keepLogits) => {
    const [tokens, width, vocab] = [300, 8, 8209]; // 256 rows a block, and a vocabulary that fills no vector
    const hidden = normal('hidden', [tokens, width]) as tf.Tensor2D;
    const weight = normal('weight', [vocab, width], 0.3) as tf.Tensor2D;
    const ids = tf.tensor1d(
      Array.from({ length: tokens }, (_, i) => (i * 7919) % vocab),
      'int32',
    );
    const [a, b] = [normal('a', [tokens]), normal('b', [tokens])];
    const settings = { temperature: 0.7, keepLogits };
    const fused = (h: tf.Tensor, w: tf.Tensor): tf.Scalar => {
      const { logp, entropy } = tokenLogProb(h as tf.Tensor2D, w as tf.Tensor2D, ids, settings);
      return tf.add(tf.sum(tf.mul(a, logp)), tf.sum(tf.mul(b, entropy)));
    };
    const plain = (h: tf.Tensor, w: tf.Tensor): tf.Scalar => {
      const all = tf.logSoftmax(tf.div(tf.matMul(h as tf.Tensor2D, w as tf.Tensor2D, false, true), 0.7));
      const chosen = tf.sum(tf.mul(all, tf.oneHot(ids, vocab)), 1);
      const entropy = tf.neg(tf.sum(tf.mul(tf.exp(all), all), 1));
      return tf.add(tf.sum(tf.mul(a, chosen)), tf.sum(tf.mul(b, entropy)));
    };
    const before = device.memory().bytes;
    device.resetPeak();
    // What tfjs makes itself, such as zeros for outputs without a gradient.
    const written = vi.spyOn(SimdBackend.prototype, 'write');
    const got = tf.grads(fused)([hidden, weight]);
    const kept = device.memory().peakBytes - before > 4 * tokens * vocab;
    expect(kept).toBe(keepLogits);
    for (const [, shape] of written.mock.calls)
      expect(tf.util.sizeFromShape(shape)).toBeLessThanOrEqual(tokens);
    written.mockRestore();
    const wanted = tf.grads(plain)([hidden, weight]);
    for (const i of [0, 1])
      expect(relativeDifference(await wanted[i]!.data(), await got[i]!.data())).toBeLessThan(2e-5);
  });

  test.each([
    [600, 8209],
    [1800, 3001], // 698 rows a block
  ])('gradients by kept logits are those by blocks to the bit: %s tokens of %s', async (tokens, vocab) => {
    const hidden = normal('hidden', [tokens, 24]) as tf.Tensor2D;
    const weight = normal('weight', [vocab, 24], 0.3) as tf.Tensor2D;
    const ids = tf.tensor1d(
      Array.from({ length: tokens }, (_, i) => (i * 7919) % vocab),
      'int32',
    );
    const gradients = (trainsWeight: boolean, keepLogits: boolean) =>
      tf.grads((h, w) =>
        tf.mean(tokenLogProb(h as tf.Tensor2D, w as tf.Tensor2D, ids, { trainsWeight, keepLogits }).logp),
      )([hidden, weight]);
    for (const trainsWeight of [false, true]) {
      const [blocks, kept] = [gradients(trainsWeight, false), gradients(trainsWeight, true)];
      for (const i of [0, 1]) expect(await kept[i]!.data()).toEqual(await blocks[i]!.data());
    }
  });

  test('logits are not kept in the forward pass of an op with a gradient of its own', () => {
    const [tokens, vocab] = [600, 8209];
    const hidden = normal('hidden', [tokens, 8]) as tf.Tensor2D;
    const weight = normal('weight', [vocab, 8]) as tf.Tensor2D;
    const ids = tf.zeros([tokens], 'int32') as tf.Tensor1D;
    const mean = tf.customGrad((h) => ({
      value: tf.mean(tokenLogProb(h as tf.Tensor2D, weight, ids, { keepLogits: true }).logp),
      gradFunc: (dy) => tf.mul(dy, tf.onesLike(hidden)),
    }));
    const before = device.memory().bytes;
    device.resetPeak();
    tf.grad((h) => mean(h))(hidden);
    expect(device.memory().peakBytes - before).toBeLessThan(4 * tokens * vocab);
  });

  test('attention and its gradients over packed sequences longer than a block of queries', async () => {
    const lengths = [50, 1, 24, 25, 73];
    const [heads, kvHeads, headDim] = [4, 2, 8];
    const tokens = lengths.reduce((x, y) => x + y);
    const offsets = [0, ...lengths.map((_, i) => lengths.slice(0, i + 1).reduce((x, y) => x + y))];
    const angle = (p: number, i: number): number => p / 10000 ** ((2 * i) / headDim);
    const half = headDim / 2;
    const rotary = tf.tensor2d(
      Array.from({ length: 80 }, (_, p) =>
        Array.from({ length: headDim }, (_, i) =>
          i < half ? Math.cos(angle(p, i)) : Math.sin(angle(p, i - half)),
        ),
      ),
    );
    const inputs = [heads, kvHeads, kvHeads].map((n, i) => normal(`qkv${i}`, [tokens, n * headDim]));
    const probe = normal('probe', [tokens, heads * headDim]);

    const fused = (q: tf.Tensor, k: tf.Tensor, v: tf.Tensor): tf.Scalar => {
      const packed = [q, k, v] as tf.Tensor2D[];
      const at = tf.tensor1d(offsets, 'int32');
      const shape = { heads, kvHeads, longest: 73 };
      const out = causalAttention(packed[0]!, packed[1]!, packed[2]!, at, rotary, shape);
      return tf.sum(tf.mul(out, probe));
    };
    const rotate = (x: tf.Tensor, length: number): tf.Tensor => {
      const cos = tf.slice(rotary, [0, 0], [length, half]);
      const sin = tf.slice(rotary, [0, half], [length, half]);
      const low = tf.slice(x, [0, 0], [length, half]);
      const high = tf.slice(x, [0, half], [length, half]);
      return tf.concat(
        [tf.sub(tf.mul(low, cos), tf.mul(high, sin)), tf.add(tf.mul(high, cos), tf.mul(low, sin))],
        1,
      );
    };
    const plain = (q: tf.Tensor, k: tf.Tensor, v: tf.Tensor): tf.Scalar => {
      const terms: tf.Tensor[] = [];
      lengths.forEach((length, b) => {
        const part = (x: tf.Tensor, head: number) =>
          tf.slice(x, [offsets[b]!, head * headDim], [length, headDim]);
        const mask = tf.linalg.bandPart(tf.ones([length, length]), -1, 0);
        for (let head = 0; head < heads; head++) {
          const kvHead = Math.floor(head / (heads / kvHeads));
          const scores = tf.div(
            tf.matMul(rotate(part(q, head), length), rotate(part(k, kvHead), length), false, true),
            Math.sqrt(headDim),
          );
          const masked = tf.add(tf.mul(scores, mask), tf.mul(tf.sub(1, mask), -1e9));
          const out = tf.matMul(tf.exp(tf.logSoftmax(masked)), part(v, kvHead));
          terms.push(tf.sum(tf.mul(out, part(probe, head))));
        }
      });
      return tf.addN(terms) as tf.Scalar;
    };
    const [q, k, v] = inputs as [tf.Tensor, tf.Tensor, tf.Tensor];
    const got = tf.grads(fused)([q, k, v]);
    const wanted = tf.grads(plain)([q, k, v]);
    for (let i = 0; i < 3; i++)
      expect(relativeDifference(await wanted[i]!.data(), await got[i]!.data())).toBeLessThan(1e-5);
    const [a, b] = [await fused(q, k, v).data(), await plain(q, k, v).data()];
    expect(a[0]).toBeCloseTo(b[0]!, 4);
  });
});
