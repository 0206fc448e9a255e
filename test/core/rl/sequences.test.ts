/** Credit along a sequence: returns, GAE, REINFORCE++, step rewards and implicit process rewards. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  discountedReturns,
  gae,
  implicitProcess,
  klShapedRewards,
  processGrpo,
  reinforcePlusPlus,
  rescaleByLargestReturn,
  spreadSteps,
} from '../../../core/rl/estimators/index.ts';
import { whiten } from '../../../core/rl/statistics.ts';
import { expectClose } from '../../learner/losses/finite-difference.ts';

const small = fc.double({ min: -2, max: 2, noNaN: true });
const tokens = fc.array(fc.record({ reward: small, value: small, mask: fc.constantFrom(0, 1) }), {
  maxLength: 10,
});
const quick = { numRuns: 50, seed: 4 };

test('masked tokens inside a dialogue: `through` keeps credit for earlier turns, `reset` cuts it off', () => {
  const rewards = [0, 0, 0, 1];
  const mask = [1, 0, 0, 1];
  expect(discountedReturns(rewards, { gamma: 0.5, mask })).toEqual([0.125, 0.25, 0.5, 1]);
  expect(discountedReturns(rewards, { gamma: 0.5, mask, masked: 'reset' })).toEqual([0, 0, 0.5, 1]);
});

test('GAE that skips masked tokens is GAE on the tokens that are left', () => {
  fc.assert(
    fc.property(tokens, (list) => {
      const options = { gamma: 0.9, lambda: 0.8 };
      const arrays = (items: typeof list) => ({
        rewards: items.map(({ reward }) => reward),
        values: items.map(({ value }) => value),
      });
      const kept = list.filter(({ mask }) => mask === 1);
      const skipped = gae(
        { ...arrays(list), mask: list.map(({ mask }) => mask) },
        { ...options, masked: 'skip' },
      );
      expectClose(
        skipped.advantages.filter((_, t) => list[t]!.mask === 1),
        gae(arrays(kept), options).advantages,
        1e-12,
      );
    }),
    quick,
  );
});

test('GAE at λ = 1 has the discounted returns, whatever the values', () => {
  fc.assert(
    fc.property(tokens, (list) => {
      const rewards = list.map(({ reward }) => reward);
      const values = list.map(({ value }) => value);
      expectClose(
        gae({ rewards, values }, { gamma: 0.9, lambda: 1 }).returns,
        discountedReturns(rewards, { gamma: 0.9 }),
        1e-12,
      );
    }),
    quick,
  );
});

test('whitening takes its statistics from counted tokens alone', () => {
  expectClose(whiten([2, 3]), [-Math.SQRT1_2, Math.SQRT1_2], 1e-6);
  expectClose(whiten([2, 100, 3], [1, 0, 1]), [-Math.SQRT1_2, 97.5 * Math.SQRT2, Math.SQRT1_2], 1e-6);
  expect(whiten([5])).toEqual([0]);
});

test('the outcome sits on the last generated token, the KL penalty on every generated one', () => {
  expectClose(
    klShapedRewards({ reward: 2, mask: [0, 1, 1, 0], kl: [9, 0.1, 0.3, 9] }, 0.5),
    [0, -0.05, 1.85, 0],
  );
  expect(klShapedRewards({ reward: 2, mask: [0, 0] }, 0.5)).toEqual([0, 0]);
});

test('REINFORCE++ whitens over the generated tokens of the batch, or of each key', () => {
  // returns 1, 1 and 0: mean 2/3, variance 1/3
  const sequences = [
    { reward: 1, mask: [0, 1, 1] },
    { reward: null, mask: [1, 1] },
    { reward: 0, mask: [1] },
  ];
  const [first, missing, last] = reinforcePlusPlus(sequences);
  expectClose(first!.slice(1), [1 / Math.sqrt(3), 1 / Math.sqrt(3)], 1e-6);
  expectClose(last!, [-2 / Math.sqrt(3)], 1e-6);
  expect(missing).toBeNull();
  const apart = reinforcePlusPlus(
    [
      { reward: 1, mask: [1] },
      { reward: 100, mask: [1] },
      { reward: 3, mask: [1] },
      { reward: 300, mask: [1] },
    ],
    {},
    ['x', 'y', 'x', 'y'],
  );
  expectClose(
    apart.flatMap((row) => row!),
    [-Math.SQRT1_2, -Math.SQRT1_2, Math.SQRT1_2, Math.SQRT1_2],
    1e-6,
  );
});

test('REINFORCE++ discounts and penalises KL before it whitens', () => {
  const kl = { reward: 1, mask: [1, 1], kl: [0.2, 0.4] };
  const [row] = reinforcePlusPlus([kl], { gamma: 0.5, klCoefficient: 0.1 });
  // returns .46 = -.02 + .5·.96 and .96: one standard deviation apart by ddof 1
  expectClose(row!, [-Math.SQRT1_2, Math.SQRT1_2], 1e-6);
});

test('step rewards are standardised by group; equal ones and missing ones give no signal', () => {
  const [a, b, c, d] = processGrpo([[1, 3], [2, 2], null, [4]], ['g', 'flat', 'g', 'alone']);
  expectClose(a!, [0, 1], 1e-12);
  expect(b).toEqual([0, 0]);
  expect(c).toBeNull();
  expect(d).toEqual([0]);
  expect(spreadSteps([0.5, -1], [-1, 0, 0, 1, -1])).toEqual([0, 0.5, 0.5, -1, 0]);
});

test('implicit process rewards: siblings’ mean token reward is the baseline, scaled by n/(n − 1)', () => {
  // means .3 and .1, baseline .2, scale 2
  const [a, b, alone] = implicitProcess([[0.2, 0.4], [0.1], [7, 8]], ['g', 'g', 'h']);
  expectClose(a!, [0.4, 0.4], 1e-12);
  expectClose(b!, [-0.2], 1e-12);
  expect(alone).toEqual([0, 0]);
  const rescaled = rescaleByLargestReturn([[1, -3], [2]]);
  expectClose(rescaled.flat(), [1 / 3, -1, 2 / 3], 1e-12);
  expect(rescaleByLargestReturn([[0, 0]])).toEqual([[0, 0]]);
});
