import { expect, test } from 'vitest';
import { atTokens } from '../../../cli/claims/co-training.ts';
import { runOf } from '../../core/claims/runs.ts';

test('a curve is read at a number of tokens, spent evenly or as the rounds say', () => {
  // 1.5 million tokens in two rounds; greedy 0, 0.4, 0.6.
  const even = runOf(0, 0.4, 0.6);
  expect(atTokens(even, 'accuracy', 0)).toBe(0);
  expect(atTokens(even, 'accuracy', 375_000)).toBeCloseTo(0.2);
  expect(atTokens(even, 'accuracy', 1_125_000)).toBeCloseTo(0.5);
  expect(atTokens(even, 'accuracy', 9e9)).toBe(0.6);
  const spent = (tokens: number, round: number) => ({ round, figures: { tokens, trainedTokens: 0 } });
  const uneven = { ...even, monitors: [spent(1_000_000, 1), spent(500_000, 2)] };
  expect(atTokens(uneven, 'accuracy', 500_000)).toBeCloseTo(0.2);
  expect(atTokens(uneven, 'accuracy', 1_250_000)).toBeCloseTo(0.5);
});
