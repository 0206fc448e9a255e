import { expect, test } from 'vitest';
import { ppoClip } from '../../../learner/losses/ppo-clip.ts';
import * as tf from '../../../learner/tfjs.ts';
import { backprop, expectClose, ofVector } from './finite-difference.ts';

await tf.setBackend('cpu');

// Inputs and per-token answers of SkyRL's dual-clip test.
const tokens = (logprobs = tf.tensor1d([-1.69315, -1, -0.69741])) => ({
  logprobs,
  oldLogprobs: tf.tensor1d([-1, -1, -3]),
  advantages: tf.tensor1d([1, -1, -4]),
  weights: tf.tensor1d([1, 1, 1]),
});

test('the dual clip bounds the loss of a negative advantage, and counts as clipped', () => {
  const { loss, perToken, clippedTokens } = ppoClip(tokens(), { clipLow: 0.2, clipHigh: 0.2, dualClip: 3 });
  expectClose(perToken.dataSync(), [-0.5, 1, 12], 1e-5);
  expectClose(loss.dataSync(), [12.5], 1e-5);
  expect(clippedTokens.dataSync()[0]).toBe(1);
});

test('the gradient is zero where the clip is active and −ρA elsewhere', () => {
  const gradient = (clipHigh: number, advantage: number): number =>
    backprop(
      ofVector((logprobs) => {
        const one = { logprobs, oldLogprobs: tf.tensor1d([-1]), weights: tf.tensor1d([1]) };
        return ppoClip({ ...one, advantages: tf.tensor1d([advantage]) }, { clipLow: 0.2, clipHigh }).loss;
      }),
      [-1 + Math.log(1.25)],
    )[0]!;
  expect(gradient(0.2, 2)).toBe(0);
  expect(gradient(0.28, 2)).toBeCloseTo(-2.5, 5);
  expect(gradient(0.2, -2)).toBeCloseTo(2.5, 5);
});
