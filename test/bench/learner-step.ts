/**
 * One contender of the learner benchmark in a process of its own: for each line on standard input one training step, for each step
 * one line of JSON. Arguments: config name, then JSON of DeviceSettings and step options.
 */
import { createInterface } from 'node:readline';
import { openDevice } from '../../learner/device/node-host.ts';
import { AdamW } from '../../learner/nn/adamw.ts';
import {
  accumulate,
  disposeResult,
  type LossAndGrads,
  lossAndGrads,
} from '../../learner/nn/loss-and-grads.ts';
import { microBatches, packSequences } from '../../learner/nn/pack.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import { BENCH_CONFIGS, benchBatch, benchWeights, modelConfig } from './learner-configs.ts';
import type { StepOptions } from './learner-step-options.ts';

const [name = 'c1', json = '{"device":{"device":"cpu"}}'] = process.argv.slice(2);
const {
  device: settings,
  tokenBudget = Number.POSITIVE_INFINITY,
  recompute = false,
}: StepOptions = JSON.parse(json);
const bench = BENCH_CONFIGS[name]!;
const device = await openDevice(settings);
const params = paramsFrom(modelConfig(bench), benchWeights(bench));
const optimiser = new AdamW(params, { lr: 1e-4 });
const { sequences, advantages } = benchBatch(bench);
const scored = bench.length - 1;

/** The clipped surrogate over the scored tokens of some sequences, as a share of the whole batch's mean. */
function microStep(group: readonly number[]): LossAndGrads {
  const batch = packSequences(group.map((i) => sequences[i]!));
  const advantage = group.flatMap((i) => advantages.slice(i * scored, (i + 1) * scored));
  return lossAndGrads(params, () => {
    const { logp } = tokenLogProbs(params, batch, { recompute });
    const a = tf.tensor1d(advantage);
    const ratio = tf.exp(tf.sub(logp, tf.tensor1d(oldLogprobs(group))));
    const surrogate = tf.minimum(tf.mul(ratio, a), tf.mul(tf.clipByValue(ratio, 0.8, 1.2), a));
    return tf.neg(tf.div(tf.sum(surrogate), advantages.length)) as tf.Scalar;
  });
}

const atStart: Float32Array[] = [];
for (const sequence of sequences) {
  const logp = tf.tidy(() => tokenLogProbs(params, packSequences([sequence])).logp);
  atStart.push((await logp.data()) as Float32Array);
  logp.dispose();
}
const oldLogprobs = (group: readonly number[]): number[] => group.flatMap((i) => [...atStart[i]!]);

device.resetPeak();
const groups = microBatches(sequences, tokenBudget);
process.stdout.write(`${JSON.stringify({ ready: device.description })}\n`);
for await (const _ of createInterface({ input: process.stdin })) {
  const start = performance.now();
  const cpuStart = process.cpuUsage();
  let total: LossAndGrads | undefined;
  for (const group of groups) {
    const part = microStep(group);
    if (total) accumulate(total, part);
    else total = part;
  }
  const norm = optimiser.step(total!.grads);
  const recordedMs = performance.now() - start;
  await device.flush();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuStart);
  const cpuMs = (user + system) / 1000;
  const [loss] = await total!.loss.data();
  const [gradientNorm] = await norm.data();
  disposeResult(total!);
  norm.dispose();
  const peakBytes = { tensors: device.memory().peakBytes, resident: process.resourceUsage().maxRSS * 1024 };
  process.stdout.write(`${JSON.stringify({ ms, recordedMs, cpuMs, loss, gradientNorm, peakBytes })}\n`);
}
device.close();
