/** Tree search by numbers worked by hand. */
import { describe, expect, test } from 'vitest';
import {
  backUp,
  drawsFor,
  nextDraw,
  processValues,
  puct,
  siblingPair,
  ucb,
} from '../../../core/rl/tree-search.ts';
import { sameLog } from '../../../core/same-exp.ts';

test('ln x by sums and products alone is that of the platform, to the last places', () => {
  for (const x of [1e-300, 0.01, 0.5, 2 / 3, 1, 4 / 3, 2, 3, 7, 10, 97, 1000, 123456789, 1e300])
    expect(Math.abs(sameLog(x) - Math.log(x))).toBeLessThanOrEqual(
      4e-16 * Math.max(1, Math.abs(Math.log(x))),
    );
  expect(sameLog(1)).toBe(0);
});

describe('selection', () => {
  test('UCB1: Q + c·√(ln N / n)', () => {
    // ln 20 = 2.995732; √(2.995732 / 5) = 0.774046.
    expect(ucb(1)({ value: 0.3, visits: 5, prior: 0 }, 20)).toBeCloseTo(1.074046, 6);
    // ReST-MCTS*: V + .7·√(2·ln 20 / 5) = V + .7·1.094666.
    expect(ucb(0.7 * Math.SQRT2)({ value: 0.3, visits: 5, prior: 0 }, 20)).toBeCloseTo(1.066266, 6);
  });

  test('PUCT: Q + c·P·√N / (1 + n)', () => {
    // 1.5 · 0.25 · 4 / (1 + 2) = 0.5
    expect(puct(1.5)({ value: -0.2, visits: 2, prior: 0.25 }, 16)).toBeCloseTo(0.3, 12);
  });
});

test('the value of a node is the mean of its branches by visits, and of its own once', () => {
  const branches = [
    { value: 0.5, visits: 3 },
    { value: 1, visits: 1 },
    { value: 0, visits: 4 },
  ];
  // (3 · 0.5 + 1 · 1 + 4 · 0) / 8, and with its own .2: (.2 + 2.5) / 9.
  expect(backUp(null, branches)).toBeCloseTo(0.3125, 12);
  expect(backUp(0.2, branches)).toBeCloseTo(0.3, 12);
  expect(backUp(0.2, [])).toBe(0.2);
});

test('one more draw promises the mean of what was drawn, and something new as often as steps came once', () => {
  // (.9 + 2 · .3 + .1 + .2) / 5, and two of four draws came once.
  const steps = [
    { drawn: 2, value: 0.3 },
    { drawn: 1, value: 0.1 },
    { drawn: 1, value: 0.2 },
  ];
  expect(nextDraw(0.9, steps)).toEqual({ value: expect.closeTo(0.36, 12), visits: 4, prior: 0.5 });
  expect(nextDraw(0.5, [{ drawn: 3, value: 0.5 }]).prior).toBe(0);
});

test('a node whose branches differ more may have more of them, within bounds', () => {
  const branching = { least: 2, most: 6, scale: 10 };
  const of = (...values: number[]) =>
    drawsFor(
      branching,
      0.5,
      values.map((value) => ({ value })),
    );
  expect(of()).toBe(2);
  expect(of(0.55, 0.45)).toBe(2);
  // ⌊10 · .25⌋ + 1 = 3, and ⌊10 · .5⌋ + 1 = 6; ⌊10 · .9⌋ + 1 is too many.
  expect(of(0.5, 0.75)).toBe(3);
  expect(of(0, 0.5)).toBe(6);
  expect(of(1.4)).toBe(6);
  expect(drawsFor({ least: 3, most: 3 }, 0, [{ value: 9 }])).toBe(3);
});

describe('process values of ReST-MCTS*', () => {
  const node = (parent: number | null, right = false) => ({ parent, right });

  test('a tree with one right answer of two steps', () => {
    //  A ─ A1 right          A: m = 2, v = 0 + 1/2.         A1: m = 1, v = 1/2 + 1/2 = 1.
    //    └ A2 wrong          A2: m = 2 of A, v = 1/2 − (1/2)/2 = 1/4.
    //        └ A21 wrong     A21: m = 2 of A, v = max(0, 1/4 − (3/4)/2) = 0.
    //  B ─ B1 wrong          B: m = 3 of the question, v = max(0, −1/3) = 0, and so is B1.
    const values = processValues([node(null), node(0, true), node(0), node(2), node(null), node(4)]);
    expect(values).toEqual([0.5, 1, 0.25, 0, 0, 0]);
  });

  test('the nearest of several right answers counts', () => {
    //  A ─ B ─ C right, and A ─ D right: A has m = 2 by D, B m = 2 by C, and D and C are worth 1.
    //  v(A) = 1/2; v(B) = 1/2 + (1/2)/2 = 3/4; v(C) = 1; v(D) = 1/2 + 1/2 = 1.
    expect(processValues([node(null), node(0), node(1, true), node(0, true)])).toEqual([0.5, 0.75, 1, 1]);
  });

  test('three steps rise by even parts: 1/3, 2/3, 1', () => {
    const values = processValues([node(null), node(0), node(1, true)]);
    for (const [i, value] of [1 / 3, 2 / 3, 1].entries()) expect(values[i]).toBeCloseTo(value, 12);
  });

  test('a tree without a right answer says nothing', () => {
    expect(processValues([node(null), node(0)])).toEqual([null, null]);
    expect(processValues([])).toEqual([]);
  });
});

test('of siblings the best and the worst are compared, where they are far enough apart', () => {
  expect(siblingPair([0.1, -0.4, 0.9, 0.9], 0.2)).toEqual({ better: 2, worse: 1, apart: 1.3 });
  expect(siblingPair([0.5, 0.4], 0.2)).toBeNull();
  expect(siblingPair([0.5], 0)).toBeNull();
});
