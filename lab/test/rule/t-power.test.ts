import { expect, test } from 'vitest';
import { normalBelow, tPower } from '../../rule/t-power.ts';

test('the normal distribution is that of the printed tables', () => {
  const printed = { 0: 0.5, 1: 0.841345, 1.96: 0.975002, '-1': 0.158655, '-2.5': 0.00621 };
  for (const [z, below] of Object.entries(printed)) expect(normalBelow(Number(z))).toBeCloseTo(below, 6);
});

test('an effect at the bound passes in 2.5 % of cases, whatever the number of measurements', () => {
  for (const n of [2, 4, 8, 30]) expect(tPower(0, 1, n)).toBeCloseTo(0.025, 3);
});

test('the power of a one-sided t-test at 2.5 %', () => {
  // By the non-central t distribution of SciPy 1: 1 − nct.cdf(t, ν, margin·√n/deviation).
  expect(tPower(1.156, 1, 8)).toBeCloseTo(0.799976, 5);
  expect(tPower(0.28, 1, 100)).toBeCloseTo(0.791827, 5);
});

test('equal measurements pass every bound that they exceed', () => {
  expect([tPower(0.1, 0, 8), tPower(-0.1, 0, 8), tPower(0, 0, 8)]).toEqual([1, 0, 0]);
});
