/** What a training step is said to keep on the device, held to what the arena counts; and steps that recompute where there is little room. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import {
  activationBytes,
  adapterTokens,
  mayKeepLogits,
  microBatchTokens,
  mustRecompute,
} from '../../learner/nn/activations.ts';
import { createLora } from '../../learner/nn/lora.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import { parseConfig } from '../../model/config.ts';
import { randomCheckpoint } from '../../model/init.ts';

let device: Device;
beforeEach(async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
});
afterEach(() => {
  vi.restoreAllMocks();
  device.close();
});

const shape = (
  type: string,
  layers: number,
  width: number,
  heads: number,
  kvHeads: number,
  inner: number,
) => ({
  model_type: type,
  vocab_size: 256,
  hidden_size: width,
  intermediate_size: inner,
  num_hidden_layers: layers,
  num_attention_heads: heads,
  num_key_value_heads: kvHeads,
  head_dim: width / heads,
  max_position_embeddings: 256,
  tie_word_embeddings: true,
});

test.each([
  ['as many heads of keys', shape('llama', 4, 64, 4, 4, 176)],
  ['a wide MLP and one head of keys', shape('qwen2', 4, 192, 3, 1, 1024)],
  ['norms on heads', shape('qwen3', 4, 256, 8, 4, 768)],
])('a micro-batch keeps no more than is said, and no less than half of it: %s', (_, hf) => {
  const config = parseConfig(hf);
  const params = paramsFrom(config, randomCheckpoint(config, 'activations'));
  // An adapter, whose gradients are small beside the activations.
  const adapter = createLora(params, { rank: 2, alpha: 2 }, 'adapter');
  const [sequences, length] = [8, 96];
  const batch = packSequences(
    Array.from({ length: sequences }, (_, s) => ({
      ids: Array.from({ length }, (_, t) => (s * 31 + t * 7) % config.vocabSize),
      from: 1,
    })),
  );
  for (const recompute of [false, true]) {
    const before = device.memory().bytes;
    device.resetPeak();
    disposeResult(
      lossAndGrads(
        adapter,
        () => tf.mean(tokenLogProbs(params, batch, { adapter, recompute }).logp) as tf.Scalar,
      ),
    );
    const held = (device.memory().peakBytes - before) / (sequences * length);
    const said = activationBytes(config, recompute);
    expect(held).toBeLessThan(said);
    expect(held).toBeGreaterThan(said / 2);
  }
});

test('the tokens of a micro-batch follow from the config', () => {
  const of = (hf: object) => microBatchTokens(parseConfig(hf));
  const large = (layers: number, width: number, heads: number, kvHeads: number, inner: number) => ({
    ...shape('llama', layers, width, heads, kvHeads, inner),
    vocab_size: 49_152,
  });
  // The shipped policies and one of 12.8 million parameters: the most there is.
  expect(of(shape('llama', 4, 64, 4, 4, 176))).toBe(8192);
  expect(of(shape('llama', 7, 384, 6, 6, 1024))).toBe(8192);
  // SmolLM2-135M: a block keeps 4·576 + 2·(9+3)·64 + 3·1536 = 8448 values, and 512 MiB are 2²⁷ values: 2²⁷ / (30·576 + 2·8448) = 3927.
  expect(of(large(30, 576, 9, 3, 1536))).toBe(3927);
  // Qwen2.5-0.5B: 4·896 + 2·(14+2)·64 + 3·4864 = 20224; 2²⁷ / (24·896 + 2·20224) = 2166.
  expect(of(large(24, 896, 14, 2, 4864))).toBe(2166);
});

test('micro-batches of an adapter are cut until their blocks can be kept in 2 GiB', () => {
  const of = (layers: number, width: number, heads: number, kvHeads: number, inner: number) =>
    adapterTokens(parseConfig(shape('llama', layers, width, heads, kvHeads, inner)));
  // The shipped policies and one of 12.8 million parameters: as other training.
  expect(of(4, 64, 4, 4, 176)).toBe(8192);
  expect(of(7, 384, 6, 6, 1024)).toBe(8192);
  // SmolLM2-135M: 2 GiB are 2²⁹ values, and a token keeps 32·8448.
  expect(of(30, 576, 9, 3, 1536)).toBe(1985);
  // Qwen2.5-0.5B: 2²⁹ / (26·20224).
  expect(of(24, 896, 14, 2, 4864)).toBe(1021);
});

test('blocks are recomputed only where they do not fit otherwise', () => {
  const config = parseConfig(shape('llama', 30, 576, 9, 3, 1536));
  // 4000 tokens keep 4·4000·(32·8448) = 4.3 GB.
  expect(mustRecompute(config, 4000, 0, 4.2e9)).toBe(true);
  expect(mustRecompute(config, 4000, 0, 4.7e9)).toBe(false);
  // Gradients of what is trained: twice 540 MB more.
  expect(mustRecompute(config, 4000, 5.4e8, 4.7e9)).toBe(true);
});

test('logits are kept only where they fit besides the blocks and the gradients', () => {
  const config = parseConfig({ ...shape('llama', 30, 576, 9, 3, 1536), vocab_size: 49_152 });
  // 4000 tokens keep 4.33 GB besides 0.27 GB to spare, and the logits of 1000 of them are 4·1000·49152 = 0.2 GB.
  expect(mayKeepLogits(config, 4000, 1000, 0, 4.7e9)).toBe(false);
  expect(mayKeepLogits(config, 4000, 1000, 0, 4.9e9)).toBe(true);
  expect(mayKeepLogits(config, 4000, 2000, 0, 4.9e9)).toBe(false);
  // All of 135 M weights are trained: their gradients, twice, leave no room where an adapter's do.
  expect(mayKeepLogits(config, 4000, 1000, 5.4e8, 4.9e9)).toBe(false);
  expect(mayKeepLogits(config, 4000, 1000, 5.4e8, 6e9)).toBe(true);
});

test.each([false, true])(
  'a step that keeps logits takes no more than is planned for it: %s',
  (keepLogits) => {
    const config = parseConfig({ ...shape('llama', 2, 64, 4, 4, 176), vocab_size: 16_384 });
    const params = paramsFrom(config, randomCheckpoint(config, 'logits'));
    const trainedBytes = [...params.tensors.values()].reduce((sum, { size }) => sum + 4 * size, 0);
    const ids = Array.from({ length: 1024 }, (_, t) => (t * 7919) % config.vocabSize);
    const batch = packSequences(
      Array.from({ length: 4 }, (_, s) => ({ ids: ids.slice(256 * s, 256 * (s + 1)), from: 1 })),
    );
    const before = device.memory().bytes;
    device.resetPeak();
    disposeResult(
      lossAndGrads(params, () => tf.mean(tokenLogProbs(params, batch, { keepLogits }).logp) as tf.Scalar),
    );
    const held = device.memory().peakBytes - before;
    // The terms of the plan; of what it spares, one block of 256 rows of logits is used here.
    const logits = 4 * batch.targets.length * config.vocabSize;
    const blocks = 1024 * activationBytes(config, false);
    expect(held).toBeLessThan(
      blocks + 2 * trainedBytes + (keepLogits ? logits : 0) + 4 * 256 * config.vocabSize,
    );
    expect(held > logits).toBe(keepLogits);
  },
);

test('the room of the CPU device is what the machine has left, within 4 GiB', () => {
  const { bytes } = device.memory();
  vi.spyOn(process, 'availableMemory').mockReturnValue(64 * 1024 ** 3);
  expect(device.roomBytes()).toBe(4 * 1024 ** 3 - bytes);
  vi.spyOn(process, 'availableMemory').mockReturnValue(1024 ** 3);
  const tight = device.roomBytes();
  expect(tight).toBeGreaterThanOrEqual(1024 ** 3);
  expect(tight).toBeLessThan(1.1 * 1024 ** 3);
});
