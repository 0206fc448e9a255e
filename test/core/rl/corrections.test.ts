/** Importance correction on plain arrays and on tensors, mismatch figures, KL clamps, controllers, staleness. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  exponentialKlWeight,
  importanceRatios,
  isStale,
  keepInBand,
  klOfLogRatio,
  klTokens,
  maskedFraction,
  mismatch,
  offPolicyMask,
  proportionalKlWeight,
  type RatioLevel,
  truncatedWeights,
  vetoByToken,
} from '../../../core/rl/corrections/index.ts';
import * as device from '../../../learner/losses/importance.ts';
import * as tf from '../../../learner/tfjs.ts';
import { randomBatch, spoil, tensorsOf } from '../../learner/losses/batch.ts';
import { expectClose } from '../../learner/losses/finite-difference.ts';

await tf.setBackend('cpu');

const LEVELS: readonly RatioLevel[] = ['token', 'sequence', 'geometric'];
const seeds = fc.string({ minLength: 1, maxLength: 8 });

test('weights and bands on tensors are those on plain arrays, and ignore masked places', () => {
  fc.assert(
    fc.property(seeds, fc.constantFrom(...LEVELS), (seed, level) => {
      const batch = randomBatch(seed);
      const spoilt = spoil(batch);
      const plain = {
        logRatios: spoilt.logprobs.map((x, t) => x - spoilt.old[t]!),
        mask: batch.mask,
        sequence: batch.sequence,
      };
      const { logprobs, oldLogprobs, weights, sequences } = tensorsOf(spoilt);
      const tensors = { trainer: logprobs, sampler: oldLogprobs, weights, sequences };
      const counted = (values: ArrayLike<number>): number[] =>
        Array.from(values).filter((_, t) => batch.mask[t] !== 0);
      expectClose(
        counted(device.truncatedWeights(tensors, level, 1.5).dataSync()),
        counted(truncatedWeights(plain, level, 1.5)),
        1e-5,
      );
      expectClose(
        counted(device.keepInBand(tensors, level, [0.8, 1.3]).dataSync()),
        counted(keepInBand(plain, level, [0.8, 1.3])),
      );
    }),
    { numRuns: 30, seed: 6 },
  );
});

test('the off-policy mask drops what is pushed down in sequences that the policy has left', () => {
  expect(offPolicyMask([1, -1, -1], [2, 0.5, 2], 1)).toEqual([1, 1, 0]);
  const batch = {
    ...randomBatch('x', 3),
    logprobs: [-3, -2, -1, -5, 1e4],
    old: [-1, -1, -1, -1, -1e4],
    advantages: [-1, 1, -1, -1, -1],
    mask: [1, 1, 1, 1, 0],
    weights: [1, 1, 1, 1, 0],
    sequence: [0, 0, 1, 2, 2],
  };
  // mean log(old/π): 1.5, 0 and 4 (the masked place would make it −4998); it needs A < 0 too
  expect([...device.offPolicyMask(tensorsOf(batch), 1).dataSync()]).toEqual([0, 1, 1, 0, 1]);
});

test('levels of the ratio', () => {
  const tokens = { logRatios: [0.5, -0.1, 9, 1], mask: [1, 1, 0, 1], sequence: [0, 0, 0, 1] };
  expectClose(importanceRatios(tokens, 'token'), [Math.exp(0.5), Math.exp(-0.1), 1, Math.E]);
  expectClose(importanceRatios(tokens, 'sequence'), [Math.exp(0.4), Math.exp(0.4), 1, Math.E]);
  expectClose(importanceRatios(tokens, 'geometric'), [Math.exp(0.2), Math.exp(0.2), 1, Math.E]);
  expect(importanceRatios({ ...tokens, logRatios: [900, 0, 0, 0] }, 'token')[0]).toBe(Math.exp(20));
});

test('one token outside the veto’s bounds rejects its sequence; masked outliers do not', () => {
  const tokens = { logRatios: [0, 5, 0, 5, 0, -10], mask: [1, 1, 1, 0, 1, 1], sequence: [0, 0, 1, 1, 2, 2] };
  // e^5 = 148.4 > 100; e^-10 = 4.5e-5 < 1e-4
  expect(vetoByToken(tokens, [1e-4, 100])).toEqual([0, 0, 1, 0, 0, 0]);
  expect(maskedFraction([0, 0, 1, 0, 0, 0], tokens.mask)).toBe(0.8);
  expect(maskedFraction([], [])).toBe(0);
});

test('bands: level token drops single tokens (IcePop), level sequence whole sequences', () => {
  const tokens = { logRatios: [0, 1, 0], mask: [1, 1, 1], sequence: [0, 0, 1] };
  expect(keepInBand(tokens, 'token', [0.5, 2])).toEqual([1, 0, 1]);
  expect(keepInBand(tokens, 'sequence', [0.5, 2])).toEqual([0, 0, 1]);
});

test('mismatch figures by hand', () => {
  const { tokens, ...figures } = mismatch([-1, -2, Number.NaN], [-1.1, -1.8, 0], [1, 1, 0]);
  expect(tokens).toBe(2);
  expectClose(
    Object.values(figures),
    [0.05, 0.0125, 0.01195084, -0.05413859, 0.97831391, 0.2, 1.16328684],
    1e-7,
  );
  expect(mismatch([], [], [])).toEqual({
    tokens: 0,
    k1: 0,
    k2: 0,
    k3: 0,
    chiSquare: 0,
    effectiveSampleSize: 1,
    maxAbsolute: 0,
    probabilityError: 1,
  });
});

test('KL clamps bound the log-ratio and then the estimate', () => {
  expect(klOfLogRatio('k1', 30, { input: 20, output: null })).toBe(20);
  expect(klOfLogRatio('k1', -30, { input: 20, output: 10 })).toBe(-10);
  expect(klOfLogRatio('k2', 4, { input: null, output: 5 })).toBe(5);
  expect(klOfLogRatio('k3', -40, { input: 20, output: 10 })).toBe(10);
  expectClose([klOfLogRatio('k3', -0.1)], [0.00517091807], 1e-11);
  expect(klOfLogRatio('k3', 1e-9)).toBeGreaterThan(0);
  expect(klTokens('k3', [Number.NaN], [0], [0])).toEqual([0]);
});

test('k3 is never negative and k1 is its mean under the policy', () => {
  const p = [0.2, 0.5, 0.3];
  const q = [0.4, 0.4, 0.2];
  const kl = p.reduce((sum, pi, i) => sum + pi * Math.log(pi / q[i]!), 0);
  for (const estimator of ['k1', 'k3'] as const) {
    const expectation = p.reduce((sum, pi, i) => sum + pi * klOfLogRatio(estimator, Math.log(pi / q[i]!)), 0);
    expectClose([expectation], [kl], 1e-12);
  }
  fc.assert(
    fc.property(fc.double({ min: -20, max: 20, noNaN: true }), (x) => klOfLogRatio('k3', x) >= 0),
    { seed: 9 },
  );
});

test('controllers move the weight towards the target, and by no more than their bound', () => {
  const settings = { target: 0.1, samples: 10, horizon: 100 };
  expectClose([proportionalKlWeight(0.2, { ...settings, kl: 0 })], [0.196], 1e-12);
  expectClose([proportionalKlWeight(0.2, { ...settings, kl: 0.11 })], [0.202], 1e-12);
  expectClose([proportionalKlWeight(0.2, { ...settings, kl: 99 })], [0.204], 1e-12);
  expectClose([exponentialKlWeight(1e-3, { kl: 0.04, target: 0.02 })], [0.00110517092], 1e-10);
  expect(exponentialKlWeight(1e-3, { kl: 0.02, target: 0.02 })).toBe(1e-3);
});

test('the oldest token of a sample decides whether it is stale', () => {
  expect(isStale([5, 3], 11, 8)).toBe(false);
  expect(isStale([5, 2], 11, 8)).toBe(true);
});
