import { expect, test } from 'vitest';
import { tInterval, tQuantile, tWithin } from '../../../core/statistics/t-interval.ts';

test('quantiles are those of the printed tables', () => {
  const printed = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    5: 2.571,
    7: 2.365,
    9: 2.262,
    10: 2.228,
    29: 2.045,
    120: 1.98,
  };
  for (const [freedom, t] of Object.entries(printed)) expect(tQuantile(Number(freedom))).toBeCloseTo(t, 3);
  expect(tQuantile(7, 0.99)).toBeCloseTo(3.499, 3);
  expect(tQuantile(8, 0.9)).toBeCloseTo(1.86, 3);
});

test('with one and two degrees of freedom the distribution has a simple form', () => {
  // Cauchy: 2/π·arctan t. Two degrees: t/√(2 + t²).
  expect(tWithin(1, 1)).toBeCloseTo(0.5, 12);
  expect(tWithin(2, 2)).toBeCloseTo(2 / Math.sqrt(6), 12);
});

test('an interval worked by hand', () => {
  // 1, 2, 3, 4: mean 2.5, s = √(5/3) = 1.29099, t(3) = 3.18245, half = 3.18245 · 1.29099 / 2 = 2.05426.
  const { mean, low, high } = tInterval([1, 2, 3, 4]);
  expect(mean).toBe(2.5);
  expect(low).toBeCloseTo(0.44574, 4);
  expect(high).toBeCloseTo(4.55426, 4);
});

test('few or unbounded measurements have the unbounded interval', () => {
  expect(tInterval([3])).toEqual({ mean: 3, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY });
  expect(tInterval([1, Number.POSITIVE_INFINITY]).high).toBe(Number.POSITIVE_INFINITY);
  expect(tInterval([1, Number.NaN]).low).toBe(Number.NEGATIVE_INFINITY);
});

test('what is no number of degrees of freedom is refused', () => {
  for (const freedom of [0, 1.5, Number.NaN]) expect(() => tQuantile(freedom)).toThrow(/degrees of freedom/);
  expect(() => tQuantile(3, 1)).toThrow(/level between 0 and 1/);
});
