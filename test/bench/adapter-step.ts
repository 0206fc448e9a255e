/**
 * One contender of the adapter's bench in a process of its own, so that each has the memory that a learner has: for each line on standard input
 * one training step, for each step one line of JSON. Arguments: a size, what is trained, `full` or `adapter`, and how many sequences. Micro-batches
 * and recomputation are those that the learner chooses.
 */
import { createInterface } from 'node:readline';
import { openDevice } from '../../learner/device/node-host.ts';
import {
  adapterTokens,
  mayKeepLogits,
  microBatchTokens,
  mustRecompute,
} from '../../learner/nn/activations.ts';
import { AdamW } from '../../learner/nn/adamw.ts';
import { createLora } from '../../learner/nn/lora.ts';
import {
  accumulate,
  disposeResult,
  type LossAndGrads,
  lossAndGrads,
} from '../../learner/nn/loss-and-grads.ts';
import { microBatches, packSequences } from '../../learner/nn/pack.ts';
import { frozenParamsFrom, paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import type { Trainable } from '../../learner/nn/trainable.ts';
import * as tf from '../../learner/tfjs.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import { parseConfig } from '../../model/config.ts';
import { randomCheckpoint } from '../../model/init.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { ADAPTER, SIZES } from './adapter-sizes.ts';

const [name = '12.8M', what = 'adapter', count = '16'] = process.argv.slice(2);
const { hf, length } = SIZES[name]!;
const config = parseConfig(hf);
const device = await openDevice({ device: 'cpu' });
const checkpoint = () => randomCheckpoint(config, 'test/bench/adapter');
// A base that is imported is bfloat16, as it is published.
const params =
  what === 'adapter'
    ? frozenParamsFrom(config, writeSafetensors(checkpoint(), 'BF16'))
    : paramsFrom(config, checkpoint());
const adapter = what === 'adapter' ? createLora(params, ADAPTER, 'bench') : undefined;
const trained: Trainable = adapter ?? params;
const optimiser = new AdamW(trained, { lr: 1e-5 });
const trainedBytes = [...trained.tensors.values()].reduce((sum, { size }) => sum + 4 * size, 0);
const sequences = Array.from({ length: Number(count) }, (_, s) => ({
  ids: Array.from({ length }, (_, t) => (s * 7919 + t * 104_729) % config.vocabSize),
  from: 1,
}));
const most = microBatchTokens(config);
const groups = microBatches(sequences, adapter ? adapterTokens(config) : most);
const plans = groups.map((group) => {
  const [tokens, scored, room] = [group.length * length, group.length * (length - 1), device.roomBytes()];
  return {
    recompute: mustRecompute(config, tokens, trainedBytes, room),
    keepLogits: mayKeepLogits(config, tokens, scored, trainedBytes, room),
  };
});
device.resetPeak();
process.stdout.write(
  `${JSON.stringify({ device: device.description, parameters: parameterCount(config), trainedBytes, heldBytes: device.memory().bytes, microBatches: groups.length, recomputed: plans.some(({ recompute }) => recompute) })}\n`,
);
for await (const _ of createInterface({ input: process.stdin })) {
  const began = performance.now();
  const before = process.cpuUsage();
  let total: LossAndGrads | undefined;
  for (const [i, group] of groups.entries()) {
    const batch = packSequences(group.map((s) => sequences[s]!));
    const part = lossAndGrads(trained, () => {
      const { logp } = tokenLogProbs(params, batch, { ...plans[i]!, adapter });
      return tf.neg(tf.div(tf.sum(logp), sequences.length * (length - 1))) as tf.Scalar;
    });
    if (total) accumulate(total, part);
    else total = part;
  }
  const norm = optimiser.step(total!.grads);
  const [value] = await norm.data();
  norm.dispose();
  disposeResult(total!);
  const used = process.cpuUsage(before);
  const cpuMs = (used.user + used.system) / 1000;
  const { peakBytes } = device.memory();
  const rss = process.resourceUsage().maxRSS * 1024;
  process.stdout.write(
    `${JSON.stringify({ wallMs: performance.now() - began, cpuMs, norm: value, peakBytes, rss })}\n`,
  );
}
device.close();
