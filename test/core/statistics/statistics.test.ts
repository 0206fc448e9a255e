import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clusteredInterval, wilsonInterval } from '../../../core/statistics/intervals.ts';
import { type AnswerCount, majorityAtK } from '../../../core/statistics/majority-at-k.ts';
import { mcNemar, pairedDifference } from '../../../core/statistics/paired.ts';
import { passAtK } from '../../../core/statistics/pass-at-k.ts';
import { quantile } from '../../../core/statistics/quantile.ts';

/** All subsets of k positions out of n. */
function* subsets(n: number, k: number, from = 0): Generator<number[]> {
  if (k === 0) yield [];
  else for (let i = from; i <= n - k; i++) for (const rest of subsets(n, k - 1, i + 1)) yield [i, ...rest];
}

test('pass@k, worked by hand', () => {
  // 1 − C(3, 2)/C(5, 2) = 1 − 3/10; 1 − C(7, 3)/C(10, 3) = 1 − 35/120.
  expect(passAtK(5, 2, 2)).toBeCloseTo(0.7, 12);
  expect(passAtK(10, 3, 3)).toBeCloseTo(1 - 35 / 120, 12);
  expect(passAtK(10, 3, 1)).toBeCloseTo(0.3, 12);
  expect(passAtK(4, 0, 4)).toBe(0);
  expect(passAtK(4, 1, 4)).toBe(1);
  expect(passAtK(4, 2, 3)).toBe(1);
  expect(() => passAtK(4, 2, 5)).toThrow(/at least k samples/);
  expect(() => passAtK(4, 5, 1)).toThrow(/0 ≤ right ≤ n/);
});

test('pass@k is the share of all subsets of k samples that hold a right one', () => {
  fc.assert(
    fc.property(
      fc
        .array(fc.boolean(), { minLength: 1, maxLength: 8 })
        .chain((samples) =>
          fc.record({ samples: fc.constant(samples), k: fc.integer({ min: 1, max: samples.length }) }),
        ),
      ({ samples, k }) => {
        const all = [...subsets(samples.length, k)];
        const passing = all.filter((subset) => subset.some((i) => samples[i])).length;
        const right = samples.filter(Boolean).length;
        expect(passAtK(samples.length, right, k)).toBeCloseTo(passing / all.length, 10);
      },
    ),
  );
});

test('majority@k, worked by hand', () => {
  // Samples A A B (A right): pairs AA, AB, AB -> 1, ½, ½.
  expect(
    majorityAtK(
      [
        { count: 2, right: true },
        { count: 1, right: false },
      ],
      0,
      2,
    ),
  ).toBeCloseTo(2 / 3, 12);
  expect(
    majorityAtK(
      [
        { count: 2, right: true },
        { count: 1, right: false },
      ],
      0,
      3,
    ),
  ).toBe(1);
  // A and a sample without an answer: A is the only vote in each pair that holds it.
  expect(majorityAtK([{ count: 1, right: true }], 2, 2)).toBeCloseTo(2 / 3, 12);
  expect(majorityAtK([], 3, 2)).toBe(0);
  expect(() => majorityAtK([{ count: 2, right: true }], 0, 3)).toThrow(/1 ≤ k ≤ n/);
});

test('majority@k is the mean over all subsets of k samples', () => {
  /** Chance that the vote of one subset is right, ties broken evenly. */
  const wins = (votes: readonly (number | null)[], right: readonly boolean[]): number => {
    const counts = right.map((_, answer) => votes.filter((vote) => vote === answer).length);
    const top = Math.max(0, ...counts);
    if (top === 0) return 0;
    const winners = counts.flatMap((count, answer) => (count === top ? [answer] : []));
    return winners.filter((answer) => right[answer]).length / winners.length;
  };
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 8 }),
      fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      fc.nat(),
      (samples, right, seed) => {
        const k = 1 + (seed % samples.length);
        const answers: AnswerCount[] = right.map((isRight, answer) => ({
          count: samples.filter((sample) => sample === answer).length,
          right: isRight,
        }));
        const all = [...subsets(samples.length, k)];
        const mean =
          all.reduce(
            (sum, subset) =>
              sum +
              wins(
                subset.map((i) => samples[i] ?? null),
                right,
              ),
            0,
          ) / all.length;
        const silent = samples.filter((sample) => sample === null).length;
        expect(
          majorityAtK(
            answers.filter(({ count }) => count > 0),
            silent,
            k,
          ),
        ).toBeCloseTo(mean, 10);
      },
    ),
  );
});

test('Wilson’s interval against published values', () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I, method 3.
  expect(wilsonInterval(81 / 263, 263)).toEqual({
    low: expect.closeTo(0.2553, 4),
    high: expect.closeTo(0.3662, 4),
  });
  expect(wilsonInterval(15 / 148, 148)).toEqual({
    low: expect.closeTo(0.0624, 4),
    high: expect.closeTo(0.1605, 4),
  });
  expect(wilsonInterval(0, 20)).toEqual({ low: 0, high: expect.closeTo(0.1611, 4) });
  expect(wilsonInterval(1 / 29, 29)).toEqual({
    low: expect.closeTo(0.0061, 4),
    high: expect.closeTo(0.1718, 4),
  });
  expect(wilsonInterval(1, 29).high).toBe(1);
  expect(() => wilsonInterval(0.5, 0)).toThrow(/more than 0 trials/);
});

test('with one sample a question the clustered interval is Wilson’s', () => {
  const answers = [1, 0, 0, 1, 1, 0, 1, 1];
  const plain = wilsonInterval(5 / 8, 8);
  const clustered = clusteredInterval(answers);
  expect(clustered.low).toBeCloseTo(plain.low, 12);
  expect(clustered.high).toBeCloseTo(plain.high, 12);
});

test('four copies of every sample are worth no more than one of each', () => {
  // Shares of whole questions 0 or 1, whatever the number of samples behind them.
  expect(clusteredInterval([1, 1, 0, 0])).toEqual(wilsonInterval(0.5, 4));
  // Shares all the same: p(1 − p)/0 is endless, and n is taken.
  expect(clusteredInterval([0.5, 0.5])).toEqual(wilsonInterval(0.5, 2));
});

test('McNemar’s exact test, worked by hand', () => {
  const pairs = (both: number, onlyFirst: number, onlySecond: number, neither: number) => ({
    first: [...Array(both + onlyFirst).fill(true), ...Array(onlySecond + neither).fill(false)] as boolean[],
    second: [
      ...Array(both).fill(true),
      ...Array(onlyFirst).fill(false),
      ...Array(onlySecond).fill(true),
      ...Array(neither).fill(false),
    ] as boolean[],
  });
  const of = (...counts: [number, number, number, number]) => {
    const { first, second } = pairs(...counts);
    return mcNemar(first, second);
  };
  // 2·(C(9,0) + C(9,1)) / 2⁹ = 20/512.
  expect(of(30, 1, 8, 11)).toEqual({ onlyFirst: 1, onlySecond: 8, p: expect.closeTo(20 / 512, 12) });
  // Two-sided, so the order does not matter; an even split is no evidence.
  expect(of(30, 8, 1, 11).p).toBeCloseTo(20 / 512, 12);
  expect(of(5, 3, 3, 2).p).toBe(1);
  expect(of(5, 0, 0, 2).p).toBe(1);
  // 2·2⁻²⁰⁰⁰ is 0 in floating point, not NaN.
  expect(of(0, 0, 2000, 0).p).toBeCloseTo(0, 12);
});

test('the paired difference, worked by hand', () => {
  // Differences ½, 0, ½, −½: mean ⅛, deviation √(11/48), standard error √(11/192).
  const half = 1.959963984540054 * Math.sqrt(11 / 192);
  expect(pairedDifference([0, 0.5, 0.5, 1], [0.5, 0.5, 1, 0.5])).toEqual({
    mean: 0.125,
    low: expect.closeTo(0.125 - half, 12),
    high: expect.closeTo(0.125 + half, 12),
  });
  expect(() => pairedDifference([1], [1, 0])).toThrow(/equal length/);
});

test('a quantile lies between its neighbours by its share, whatever the order of the values', () => {
  expect(quantile([40, 10, 30, 20], 0.5)).toBe(25);
  expect(quantile([3, 1, 2], 0.5)).toBe(2);
  // Three quarters of the way from the first of five to the last is the fourth; a tenth is 0.4 of the way to the second.
  expect(quantile([9, 2, 5, 1, 7], 0.75)).toBe(7);
  expect(quantile([9, 2, 5, 1, 7], 0.1)).toBeCloseTo(1.4);
  expect(quantile([8], 0.9)).toBe(8);
  expect(quantile([], 0.5)).toBeNaN();
});
