/** The losses on every device the learner has: same values and gradients as on tfjs' plain backend, spoilt masked places included. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { PolicyObjectiveSpec } from '../../../core/rl/objective.ts';
import { openDevice } from '../../../learner/device/node-host.ts';
import { classHead } from '../../../learner/losses/class-head.ts';
import { decoupledPpo } from '../../../learner/losses/decoupled-ppo.ts';
import { distillation } from '../../../learner/losses/distillation.ts';
import { dpo } from '../../../learner/losses/dpo.ts';
import { entropyBand } from '../../../learner/losses/entropy.ts';
import { implicitReward } from '../../../learner/losses/implicit-reward.ts';
import { ipo } from '../../../learner/losses/ipo.ts';
import { klToReference } from '../../../learner/losses/kl.ts';
import { kto } from '../../../learner/losses/kto.ts';
import { logRatioRegression } from '../../../learner/losses/log-ratio.ts';
import { nll } from '../../../learner/losses/nll.ts';
import { orpo } from '../../../learner/losses/orpo.ts';
import { policyObjective } from '../../../learner/losses/policy-objective.ts';
import { simpo } from '../../../learner/losses/simpo.ts';
import { spin } from '../../../learner/losses/spin.ts';
import { sppo } from '../../../learner/losses/sppo.ts';
import { tReg } from '../../../learner/losses/t-reg.ts';
import { turnBradleyTerry } from '../../../learner/losses/turn-bradley-terry.ts';
import { expectileLoss, valueLoss } from '../../../learner/losses/value.ts';
import * as tf from '../../../learner/tfjs.ts';
import { randomBatch, spoil, tensorsOf } from './batch.ts';
import { expectClose } from './finite-difference.ts';

// Chromium's software driver, where no other is configured.
const SOFTWARE_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
if (!process.env.VK_ICD_FILENAMES && existsSync(SOFTWARE_DRIVER))
  process.env.VK_ICD_FILENAMES = SOFTWARE_DRIVER;

const batch = spoil(randomBatch('devices', 6));
const T = batch.sequence.length;
const clip = { clipLow: 0.2, clipHigh: 0.28 };
const specs: PolicyObjectiveSpec[] = [
  { kind: 'ppo-clip', ...clip, dualClip: 3 },
  { kind: 'gspo', ...clip },
  { kind: 'gmpo', ...clip },
  { kind: 'cispo', ...clip },
  { kind: 'aipo', maxRatio: 2 },
  { kind: 'sapo', tauPositive: 1, tauNegative: 1.05 },
  { kind: 'dppo-tv', delta: 0.05, squareWeight: 1e-3 },
  { kind: 'reinforce' },
];

const responses = (logprobs: tf.Tensor1D) => {
  const { oldLogprobs, sequences } = tensorsOf(batch);
  return { logprobs, reference: oldLogprobs, mask: tf.tensor1d([...batch.mask]), sequences };
};
const twoPairs = () => ({
  chosen: tf.tensor1d([0, 2], 'int32'),
  rejected: tf.tensor1d([1, 3], 'int32'),
  pairWeights: tf.tensor1d([0.5, 0.5]),
});
const rows = (x: tf.Tensor1D): tf.Tensor2D => tf.mul(tf.expandDims(x, 1), tf.tensor2d([[1, 0.5, -1]]));

const losses: Record<string, (x: tf.Tensor1D) => tf.Scalar> = {
  ...Object.fromEntries(
    specs.map((spec) => [spec.kind, (x: tf.Tensor1D) => policyObjective(tensorsOf(batch, x), spec).loss]),
  ),
  'KL k3': (logprobs) => {
    const { oldLogprobs: reference, weights } = tensorsOf(batch);
    return klToReference({ logprobs, reference, weights }, { estimator: 'k3' }).loss;
  },
  'entropy band': (entropy) => {
    const { weights } = tensorsOf(batch);
    return entropyBand({ entropy, weights, low: tf.fill([T], -1.2), high: tf.fill([T], -0.6) }).loss;
  },
  DPO: (x) => dpo(responses(x), twoPairs(), { beta: 0.5 }).loss,
  'DPO with offsets': (x) =>
    dpo(responses(x), { ...twoPairs(), offsets: tf.tensor1d([0.4, -1]) }, { beta: 0.5 }).loss,
  'DPO with spans and weights': (x) => {
    const every = responses(x);
    const spans: tf.Tensor1D = tf.mul(every.mask, tf.tensor1d(Array.from(batch.sequence, (_, t) => t % 2)));
    const pairWeights = tf.tensor1d([0.9, 0.1]);
    return dpo({ ...every, mask: spans }, { ...twoPairs(), pairWeights }, { beta: 0.5 }).loss;
  },
  'decoupled PPO': (x) => {
    const tokens = tensorsOf(batch, x);
    const behaviour: tf.Tensor1D = tf.add(tokens.oldLogprobs, 0.1);
    return decoupledPpo({ ...tokens, behaviour }, { ...clip, cap: 2 }).loss;
  },
  NLL: (logprobs) => nll({ logprobs, weights: tensorsOf(batch).weights }).loss,
  IPO: (x) => ipo(responses(x), twoPairs(), { beta: 0.5 }).loss,
  KTO: (x) =>
    kto(responses(x), twoPairs(), { beta: 0.5, baseline: 0.2, desirable: 1, undesirable: 0.7 }).loss,
  ORPO: (x) => orpo(responses(x), twoPairs(), { lambda: 0.3 }).loss,
  SimPO: (x) => simpo(responses(x), twoPairs(), { beta: 2, gamma: 0.8 }).loss,
  SPIN: (x) => spin(responses(x), twoPairs(), { lambda: 0.1 }).loss,
  SPPO: (x) => {
    const rates = { chosenWinRate: tf.tensor1d([0.9, 0.6]), rejectedWinRate: tf.tensor1d([0.2, 0.5]) };
    return sppo(responses(x), { ...twoPairs(), ...rates }, { beta: 0.1 }).loss;
  },
  'Bradley–Terry over turns': (x) => {
    const trajectories = { index: tf.tensor1d([0, 0, 1, 1, 2, 3], 'int32'), count: 4 };
    return turnBradleyTerry(responses(x), trajectories, twoPairs(), { beta: 0.5 }).loss;
  },
  'T-REG': (x) => {
    const { advantages: tokenRewards } = tensorsOf(batch);
    return tReg({ ...responses(x), tokenRewards }, twoPairs(), { beta: 0.5, alpha: 0.25 }).loss;
  },
  'log-ratio': (x) =>
    logRatioRegression(
      responses(x),
      { targets: tf.tensor1d([1, 0, 1, 1, 0, 0]), sequenceWeights: tf.fill([6], 1 / 6) },
      { beta: 0.1, reference: -29 },
    ).loss,
  'implicit reward': (x) =>
    implicitReward(
      responses(x),
      { outcomes: tf.tensor1d([1, 0, 1, 1, 0, 0]), sequenceWeights: tf.fill([6], 1 / 6) },
      { beta: 0.3 },
    ).loss,
  value: (values) => {
    const { oldLogprobs: targets, weights } = tensorsOf(batch);
    return valueLoss({ values, targets, weights }).loss;
  },
  expectile: (values) => {
    const { oldLogprobs: targets, weights } = tensorsOf(batch);
    return expectileLoss({ values, targets, weights }, 0.8).loss;
  },
  'class head': (x) =>
    classHead({
      logits: rows(x),
      labels: tf.tensor1d(
        batch.sequence.map((s) => s % 3),
        'int32',
      ),
      weights: tensorsOf(batch).weights,
    }).loss,
  distillation: (x) =>
    distillation(
      { logits: rows(x), teacher: tf.fill([T, 3], -Math.log(3)), weights: tensorsOf(batch).weights },
      { divergence: { kind: 'forward-kl' } },
    ).loss,
};

interface Figures {
  readonly loss: number;
  readonly gradient: number[];
}

/** Loss and gradient on the active device; asynchronous reads, because a GPU has no others. */
async function figures(loss: (x: tf.Tensor1D) => tf.Scalar): Promise<Figures> {
  const x = tf.tensor1d([...batch.logprobs]);
  const { value, grad } = tf.valueAndGrad((y: tf.Tensor) => loss(y as tf.Tensor1D))(x);
  const [[number], gradient] = await Promise.all([value.data(), grad.data()]);
  tf.dispose([x, value, grad]);
  return { loss: number!, gradient: [...gradient] };
}

await tf.setBackend('cpu');
const expected = new Map<string, Figures>();
for (const [name, loss] of Object.entries(losses)) expected.set(name, await figures(loss));

test.for(['cpu', 'webgpu'] as const)(
  'the losses on %s are those of the plain backend',
  async (kind, context) => {
    const device = await openDevice({ device: kind, threads: 1 }).catch((error: Error) => error.message);
    if (typeof device === 'string') return context.skip(device);
    expect(tf.getBackend()).not.toBe('cpu');
    for (const [name, loss] of Object.entries(losses)) {
      const mine = await figures(loss);
      const { loss: value, gradient } = expected.get(name)!;
      expect(Number.isFinite(value), name).toBe(true);
      expectClose([mine.loss], [value], 2e-6);
      expectClose(mine.gradient, gradient, 1e-5);
    }
    device.close();
  },
);

test('the CPU device’s segment sum: rows in any order, empty segments, ids out of range dropped', async () => {
  const device = await openDevice({ device: 'cpu', threads: 1 });
  const rows = tf.tensor2d([1, 2, 3, 4, 5, 6, 7, 8], [4, 2]);
  const sums = tf.unsortedSegmentSum(rows, tf.tensor1d([2, 0, 2, -1], 'int32'), 3);
  expect([sums.shape, ...(await sums.data())]).toEqual([[3, 2], 3, 4, 0, 0, 6, 8]);
  device.close();
});
