/** Frozen weights in bfloat16: the bits of a step are those of the same values in float32, in half the memory; and the gradients of an adapter. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { placeHalf } from '../../learner/device/place-half.ts';
import { createLora } from '../../learner/nn/lora.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { frozenParamsFrom, type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import { copyOf } from '../../learner/ops/in-place.ts';
import { adaptedLinear } from '../../learner/ops/linear.ts';
import * as tf from '../../learner/tfjs.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { fromBfloat16, toBfloat16 } from '../../model/half.ts';
import { randomCheckpoint } from '../../model/init.ts';
import {
  readSafetensors,
  readStored,
  type Tensors,
  writeSafetensors,
  writeStored,
} from '../../model/safetensors.ts';

let device: Device;
beforeEach(async () => {
  device = await openDevice({ device: 'cpu', threads: 2, shareCycles: 1 });
});
afterEach(() => device.close());

const configOf = (tied: boolean): ModelConfig =>
  parseConfig({
    model_type: 'qwen2',
    vocab_size: 323,
    hidden_size: 48,
    intermediate_size: 104,
    num_hidden_layers: 2,
    num_attention_heads: 6,
    num_key_value_heads: 2,
    max_position_embeddings: 256,
    tie_word_embeddings: tied,
  });

const batchOf = ({ vocabSize }: ModelConfig) =>
  packSequences(
    [150, 7, 61].map((length, s) => ({
      ids: Array.from({ length }, (_, t) => (131 * s + 17 * t) % vocabSize),
      from: 1 + s,
    })),
  );

/** Log-probabilities without the adapter, then loss and gradients of an adapter whose B is not zero. */
async function stepOf(params: ParamSet, config: ModelConfig): Promise<Float32Array[]> {
  const batch = batchOf(config);
  const adapter = createLora(params, { rank: 5, alpha: 10 }, 'half');
  for (const [name, tensor] of adapter.tensors)
    if (name.includes('lora_B')) {
      const values = Float32Array.from({ length: tensor.size }, (_, i) => Math.sin(i) / 8);
      tf.tidy(() => adapter.tensors.get(name)!.dataSync().set(values));
    }
  const numbers = [(await tokenLogProbs(params, batch).logp.data()) as Float32Array];
  for (const recompute of [false, true]) {
    const result = lossAndGrads(
      adapter,
      () => tf.neg(tf.mean(tokenLogProbs(params, batch, { adapter, recompute }).logp)) as tf.Scalar,
    );
    numbers.push((await result.loss.data()) as Float32Array);
    for (const gradient of result.grads.values()) numbers.push((await gradient.data()) as Float32Array);
    disposeResult(result);
  }
  adapter.dispose();
  return numbers;
}

test.each([true, false])(
  'a base in bfloat16 gives the bits of its float32 widening; tied embeddings: %s',
  async (tied) => {
    const config = configOf(tied);
    const file = writeSafetensors(randomCheckpoint(config, 'half'), 'BF16');
    const before = device.memory().bytes;
    const halves = frozenParamsFrom(config, file);
    const heldAsHalves = device.memory().bytes - before;
    const found = await stepOf(halves, config);
    // Nothing widened them for good on the way.
    const kept = device.memory().bytes;
    halves.dispose();
    const released = kept - device.memory().bytes;

    const tensors = readSafetensors(file);
    const widened = paramsFrom(config, tensors);
    expect(found).toEqual(await stepOf(widened, config));
    const values = [...tensors.values()].reduce((sum, { data }) => sum + data.length, 0);
    expect(heldAsHalves).toBeLessThan(2.2 * values);
    expect(released).toBeLessThan(2.3 * values);
  },
);

test('a file in float32 is placed as it is, and whatever reads a tensor in bfloat16 gets its values', async () => {
  const config = configOf(true);
  const tensors: Tensors = randomCheckpoint(config, 'float');
  const params = frozenParamsFrom(config, writeSafetensors(tensors));
  for (const [name, tensor] of params.tensors) expect(await tensor.data()).toEqual(tensors.get(name)!.data);

  const bits = toBfloat16(Float32Array.from({ length: 60 }, (_, i) => Math.sin(i) * 2 ** (i % 9)));
  const values = fromBfloat16(bits);
  const half = () => placeHalf([12, 5], 'BF16', bits);
  expect(await half().data()).toEqual(values);
  expect(await copyOf(half()).data()).toEqual(values);
  expect(await tf.transpose(tf.transpose(half())).data()).toEqual(values);
  expect(await tf.slice(half(), [0, 0], [12, 5]).data()).toEqual(values);
});

test('a file that lacks a tensor or has another shape is refused by name', () => {
  const config = configOf(true);
  const tensors = randomCheckpoint(config, 'refused');
  const [name] = [...tensors.keys()].slice(-1) as [string];
  const without = new Map([...tensors].filter(([other]) => other !== name));
  expect(() => frozenParamsFrom(config, writeSafetensors(without, 'BF16'))).toThrow(name);
  const bent = new Map(without).set(name, { shape: [2, 3], data: new Float32Array(6) });
  expect(() => frozenParamsFrom(config, writeSafetensors(bent, 'BF16'))).toThrow(/shape/);
});

test('a file with a tensor of bytes that are no numbers of a checkpoint is refused by name', () => {
  const config = configOf(true);
  const stored = readStored(writeSafetensors(randomCheckpoint(config, 'bytes'), 'BF16'));
  const [name, { shape }] = [...stored].at(-1)!;
  const bytes = new Uint8Array(shape.reduce((a, b) => a * b, 1));
  const file = writeStored(new Map(stored).set(name, { dtype: 'U8', shape, bytes }));
  expect(() => frozenParamsFrom(config, file)).toThrow(`Tensor ${name} has type U8.`);
});

test('gradients of factors of different ranks over several blocks of rows are those of the products in float64', async () => {
  const [rows, width] = [301, 20];
  const outs = [12, 8, 28];
  const ranks = [3, 16, 5];
  const value = (seed: number, i: number): number => Math.fround(Math.sin(seed + 1.7 * i));
  const numbers = (seed: number, size: number) => Array.from({ length: size }, (_, i) => value(seed, i));
  const x = numbers(1, rows * width);
  const a = ranks.map((rank, i) => numbers(10 + i, rank * width));
  const b = ranks.map((rank, i) => numbers(20 + i, outs[i]! * rank));
  const dy = outs.map((out, i) => numbers(30 + i, rows * out));
  const pairs = ranks.map((rank, i) => ({
    a: tf.tensor2d(a[i]!, [rank, width]),
    b: tf.tensor2d(b[i]!, [outs[i]!, rank]),
  }));
  const weights = outs.map((out) => tf.zeros([out, width]));
  const trained = new Map<string, tf.Tensor>(
    pairs.flatMap(({ a, b }, i) => [
      [`a${i}`, a],
      [`b${i}`, b],
    ]),
  );
  const { grads } = lossAndGrads({ tensors: trained }, () => {
    const ys = adaptedLinear(tf.tensor2d(x, [rows, width]), weights, pairs);
    return tf.addN(ys.map((y, i) => tf.sum(tf.mul(y, tf.tensor2d(dy[i]!, [rows, outs[i]!]))))) as tf.Scalar;
  });
  for (const [i, rank] of ranks.entries()) {
    const out = outs[i]!;
    const [da, db] = [await grads.get(`a${i}`)!.data(), await grads.get(`b${i}`)!.data()];
    for (let r = 0; r < rank; r++) {
      for (let j = 0; j < width; j++) {
        let sum = 0;
        for (let t = 0; t < rows; t++)
          for (let o = 0; o < out; o++)
            sum += dy[i]![t * out + o]! * b[i]![o * rank + r]! * x[t * width + j]!;
        expect(da[r * width + j]).toBeCloseTo(sum, 2);
      }
      for (let o = 0; o < out; o++) {
        let sum = 0;
        for (let t = 0; t < rows; t++)
          for (let j = 0; j < width; j++)
            sum += dy[i]![t * out + o]! * a[i]![r * width + j]! * x[t * width + j]!;
        expect(db[o * rank + r]).toBeCloseTo(sum, 2);
      }
    }
  }
});
