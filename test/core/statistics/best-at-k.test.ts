import { expect, test } from 'vitest';
import { bestAtK, chanceAtK } from '../../../core/statistics/best-at-k.ts';

const of = (...samples: [score: number, right: boolean][]) =>
  samples.map(([score, right]) => ({ score, right }));

test('best-of-k is what counting the subsets by hand gives', () => {
  // Scores 4 3 2 1, right are the second and the last. Of the 6 pairs 12 13 14 23 24 34 the best is right in 23 and 24: a third.
  const four = of([4, false], [3, true], [2, false], [1, true]);
  expect(bestAtK(four, 1)).toBeCloseTo(1 / 2, 12);
  expect(bestAtK(four, 2)).toBeCloseTo(1 / 3, 12);
  // Of the 4 triples only 234 is without the first: a quarter; of all four the first is the best.
  expect(bestAtK(four, 3)).toBeCloseTo(1 / 4, 12);
  expect(bestAtK(four, 4)).toBe(0);
  // Two share the best score, one of them is right: half of the pairs that hold one of them, and the whole of ... 12: ½, 13: 0, 23: 1.
  expect(bestAtK(of([2, false], [2, true], [1, false]), 2)).toBeCloseTo((0.5 + 0 + 1) / 3, 12);
  expect(bestAtK(of([Number.NaN, true], [0, false]), 2)).toBe(0);
  expect(() => bestAtK(four, 5)).toThrow(/best@5 was asked of 4 samples/);
});

test('chance is over distinct texts, not over samples', () => {
  // Three samples of one right text and one of a wrong one. One of them: 3/4. Two: aa (3 pairs) surely, ab (3 pairs) by half: 3/4.
  const texts = [
    { count: 3, right: true },
    { count: 1, right: false },
  ];
  expect(chanceAtK(texts, 1)).toBeCloseTo(3 / 4, 12);
  expect(chanceAtK(texts, 2)).toBeCloseTo(3 / 4, 12);
  // All four: two texts, of which one is right.
  expect(chanceAtK(texts, 4)).toBeCloseTo(1 / 2, 12);
  // a a b c, a right: of the 6 pairs aa 1, ab ac (two each) ½, bc 0: (1 + 2) / 6.
  const three = [
    { count: 2, right: true },
    { count: 1, right: false },
    { count: 1, right: false },
  ];
  expect(chanceAtK(three, 2)).toBeCloseTo(1 / 2, 12);
  expect(chanceAtK(three, 4)).toBeCloseTo(1 / 3, 12);
});
