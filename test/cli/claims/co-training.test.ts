import { expect, test } from 'vitest';
import { atTokens, coTrainingPage } from '../../../cli/claims/co-training.ts';
import { shipped } from '../../../recipes/index.ts';
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

test('the table over sizes compares each size of a partner with its own frozen arm, the shipped size first', () => {
  const arms = (trained: readonly number[], frozen: readonly number[]) => [
    { name: 'tango', description: '', runs: trained.map((end) => runOf(0.2, end)) },
    { name: 'frozen', description: '', runs: frozen.map((end) => runOf(0.2, end)) },
  ];
  const record = (recipe: string, ...of: Parameters<typeof arms>) => ({ recipe, arms: arms(...of) });
  const small = record('tango', [0.5, 0.6], [0.4, 0.5]) as never;
  const other = record('rise', [0.5, 0.6], [0.4, 0.5]) as never;
  const large = { ...record('tango', [0.6, 0.6], [0.7, 0.7]), shape: 'mini', parameters: 2_978_304 } as never;
  const rows = coTrainingPage(shipped, [small, other], [large])
    .split('## Over the size of the policy')[1]!
    .split('\n')
    .filter((line) => line.startsWith('| tango') || line.startsWith('| rise'));
  expect(rows).toHaveLength(2);
  expect(rows[0]).toContain('| tango, verifier | 191,616 | 2 | +10.0 (+10.0 to +10.0) |');
  expect(rows[1]).toContain('| tango, verifier | 2,978,304 | 2 | −10.0 (−10.0 to −10.0) |');
  // From 0.1 to 0.25 and 0.3 with the partner trained, and to 0.3 and 0.3.
  expect(rows[0]).toMatch(/\| 10\.0 → 27\.5 \|$/);
  expect(rows[1]).toMatch(/\| 10\.0 → 30\.0 \|$/);
  expect(coTrainingPage(shipped, [small], [])).toContain('has not been measured');
});
