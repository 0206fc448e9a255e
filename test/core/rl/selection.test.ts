/** Group filters, mixing of credit streams, preference pairs: by hand. */
import { expect, test } from 'vitest';
import { Random } from '../../../core/random.ts';
import { exponentialDecay, mixStreams } from '../../../core/rl/rewards/index.ts';
import {
  acrossThreshold,
  bestAgainstWorst,
  groupsInBand,
  groupsOfLargestDeviation,
  randomHalves,
  winRates,
} from '../../../core/rl/selection/index.ts';
import { expectClose } from '../../learner/losses/finite-difference.ts';

const rewards = [1, 1, 0, 1, 0, 0, 0, 0, null, null, 1];
const groups = ['all', 'all', 'some', 'some', 'some', 'some', 'none', 'none', 'lost', 'holes', 'holes'];

test('groups without a signal are left out, missing rewards do not count', () => {
  expect(groupsInBand(rewards, groups)).toEqual(['some']);
  expect(groupsInBand(rewards, groups, { low: 0.25, high: 1, inclusive: true })).toEqual([
    'all',
    'some',
    'holes',
  ]);
  expect(groupsInBand(rewards, groups, { low: 0.25, high: 1 })).toEqual([]);
});

test('groups of largest deviation come first, at least one', () => {
  const spread = groupsOfLargestDeviation([0, 1, 0, 4, 0, 0, 5], ['a', 'a', 'b', 'b', 'c', 'c', 'd'], 0.5);
  expect(spread).toEqual(['b', 'a']);
  expect(groupsOfLargestDeviation([1, 0], ['x', 'x'], 0.1)).toEqual(['x']);
});

test('streams add up token by token; a hole in one of them leaves the sequence out', () => {
  const outcome = { weight: 0.9, advantages: [1, -1, 1] };
  const steps = { weight: 0.1, advantages: [[10, 20], null, [0, 0, 5]] };
  const [a, b, c] = mixStreams([outcome, steps], [2, 2, 3]);
  expectClose(a!, [1.9, 2.9], 1e-12);
  expect(b).toBeNull();
  expectClose(c!, [0.9, 0.9, 1.4], 1e-12);
  expect(() => mixStreams([steps], [2, 2, 2])).toThrow(/sequence 2 has 2 tokens and 3 advantages/);
});

test('a weight decays exponentially and then stays', () => {
  expectClose(
    [0, 50, 100, 200].map((step) => exponentialDecay(0.1, 0.001, step, 100)),
    [0.1, 0.01, 0.001, 0.001],
    1e-12,
  );
});

test('best against worst; ties and missing scores make no pair', () => {
  expect(bestAgainstWorst([2, null, 5, 1, 5])).toEqual({ chosen: 2, rejected: 3 });
  expect(bestAgainstWorst([3, 3, null])).toBeNull();
  expect(bestAgainstWorst([null])).toBeNull();
});

test('random halves never prefer the lower score, and are drawn by their seed', () => {
  const scores = [0.1, 0.9, 0.4, null, 0.7, 0.7];
  const pairs = randomHalves(scores, 20, new Random('halves'));
  expect(pairs.length).toBeGreaterThan(10);
  for (const { chosen, rejected } of pairs) expect(scores[chosen]!).toBeGreaterThan(scores[rejected]!);
  expect(pairs).toEqual(randomHalves(scores, 20, new Random('halves')));
  // the middle one of five is in neither half
  expect(pairs.some(({ chosen, rejected }) => chosen === 0 || rejected === 1)).toBe(false);
  expect(randomHalves([1], 4, new Random('halves'))).toEqual([]);
});

test('pairs across a threshold are all of them, up to the limit', () => {
  const random = new Random('across');
  expect(acrossThreshold([1, 0, 1, 0.5], 0.5, 99, random)).toHaveLength(4);
  expect(acrossThreshold([1, 0, 1, 0.5], 0.5, 3, random)).toHaveLength(3);
  expect(acrossThreshold([1, 1], 0.5, 3, random)).toEqual([]);
});

test('win rates count a response against itself as a half', () => {
  const preference = [
    [0, 1, 0.8],
    [0, 9, 0.5],
    [0.2, 0.5, 1],
  ];
  expectClose(winRates(preference), [2.3 / 3, 1 / 3, 1.2 / 3], 1e-12);
});
