/** Rank correlation and exploitability, by hand. */
import { expect, test } from 'vitest';
import { exploitability, winRatesAgainst } from '../../../core/rl/measures/exploitability.ts';
import { rankCorrelation, ranksOf } from '../../../core/rl/measures/rank-correlation.ts';

test('equals share the mean of their ranks', () => {
  expect(ranksOf([10, 20, 20, 5])).toEqual([1, 2.5, 2.5, 0]);
  expect(ranksOf([])).toEqual([]);
});

test('rank correlation sees order alone', () => {
  expect(rankCorrelation([1, 2, 30], [2, 3, 4])).toBeCloseTo(1, 12);
  expect(rankCorrelation([1, 2, 3], [9, 1, 0])).toBeCloseTo(-1, 12);
  // Ranks 0 1 2 3 against 1 0 3 2: 1 − 6·Σd²/(n(n² − 1)) = 1 − 6·4/60.
  expect(rankCorrelation([1, 2, 3, 4], [2, 1, 4, 3])).toBeCloseTo(0.6, 12);
  // With a tie: ranks 0, 1.5, 1.5, 3 against 0 1 2 3: 4.5/√(4.5·5).
  expect(rankCorrelation([1, 2, 2, 3], [1, 2, 3, 4])).toBeCloseTo(4.5 / Math.sqrt(22.5), 12);
  expect(rankCorrelation([1, 1, 1], [1, 2, 3])).toBeNull();
});

const ROCK_PAPER_SCISSORS = [
  [0.5, 0, 1],
  [1, 0.5, 0],
  [0, 1, 0.5],
];

test('a pure strategy is beaten for certain, the even mixture not at all', () => {
  expect(exploitability(ROCK_PAPER_SCISSORS, [1, 0, 0])).toBe(0.5);
  expect(exploitability(ROCK_PAPER_SCISSORS, [1 / 3, 1 / 3, 1 / 3])).toBeCloseTo(0, 12);
  // Half rock, half paper: paper wins ½·1 + ½·½.
  expect(winRatesAgainst(ROCK_PAPER_SCISSORS, [0.5, 0.5, 0])).toEqual([0.25, 0.75, 0.5]);
  expect(exploitability(ROCK_PAPER_SCISSORS, [0.5, 0.5, 0])).toBe(0.25);
});
