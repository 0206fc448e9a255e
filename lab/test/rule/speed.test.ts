import { expect, test } from 'vitest';
import { speed, timeTo } from '../../rule/speed.ts';
import { runOf } from './runs.ts';

test('the time to a level is interpolated, and has no end where the level is never reached', () => {
  expect(timeTo([0, 0.2, 0.4], 0.3)).toBeCloseTo(1.5);
  expect(timeTo([0.5, 0.2], 0.3)).toBe(0);
  expect(timeTo([0, 0.1, 0.2], 0.3)).toBe(Number.POSITIVE_INFINITY);
});

test('an arm that never arrives is infinitely slow, and nothing can be compared with an arm that gains nothing', () => {
  const results = {
    fast: [runOf(0, 0.9, 1)],
    slow: [runOf(0, 0.5, 1)],
    never: [runOf(0, 0.1, 0.1)],
    flat: [runOf(0.4, 0.4)],
  };
  // Nine tenths of 0.5 (half of the greedy gain): 0.45 after one evaluation, and after 1.8.
  expect(speed(results, 'fast', 'slow', 0)).toBeCloseTo(1 / 1.8);
  expect(speed(results, 'never', 'slow', 0)).toBe(Number.POSITIVE_INFINITY);
  expect(speed(results, 'fast', 'flat', 0)).toBeNaN();
});
