import { expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { atTokens, coTrainingPage } from '../../cli/co-training.ts';
import { runOf } from '../rule/runs.ts';

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

test('the table over sizes compares each size of a partner with its own frozen arm, the claimed size first', () => {
  const arms = (trained: readonly number[], frozen: readonly number[]) => [
    { name: 'tango', description: '', runs: trained.map((end) => runOf(0.2, end)) },
    { name: 'frozen', description: '', runs: frozen.map((end) => runOf(0.2, end)) },
  ];
  const record = (recipe: string, ...of: Parameters<typeof arms>) => ({ recipe, arms: arms(...of) });
  const small = record('tango', [0.5, 0.6], [0.4, 0.5]) as never;
  const other = record('rise', [0.5, 0.6], [0.4, 0.5]) as never;
  const large = { ...record('tango', [0.6, 0.6], [0.7, 0.7]), shape: 'mini', parameters: 2_978_304 } as never;
  const rows = coTrainingPage(claimed, [small, other], [large])
    .split('## Over the size of the policy')[1]!
    .split('\n')
    .filter((line) => line.startsWith('| tango') || line.startsWith('| rise'));
  expect(rows).toHaveLength(2);
  expect(rows[0]).toContain(
    '| tango, verifier | 191,616 | 2 | 1.00 | +5.0 (+5.0 to +5.0) | +10.0 (+10.0 to +10.0) |',
  );
  expect(rows[1]).toContain(
    '| tango, verifier | 2,978,304 | 2 | 1.00 | −5.0 (−5.0 to −5.0) | −10.0 (−10.0 to −10.0) |',
  );
  // From 0.1 to 0.25 and 0.3 with the partner trained, and to 0.3 and 0.3.
  expect(rows[0]).toMatch(/\| 10\.0 → 27\.5 \|$/);
  expect(rows[1]).toMatch(/\| 10\.0 → 30\.0 \|$/);
  expect(coTrainingPage(claimed, [small], [])).toContain('has not been measured');
});

test('what a partner buys is read where both arms have spent as many tokens, and again at the end', () => {
  // 1.5 million tokens each way; the arm with the trained partner has spent twice as many.
  const twice = (run: ReturnType<typeof runOf>) => ({ ...run, tokens: { generated: 2e6, trained: 1e6 } });
  const arms = [
    { name: 'tango', description: '', runs: [0.6, 0.7].map((end) => twice(runOf(0.2, 0.3, end))) },
    { name: 'frozen', description: '', runs: [0.5, 0.6].map((end) => runOf(0.2, 0.2, end)) },
  ];
  const page = coTrainingPage(claimed, [{ recipe: 'tango', arms } as never], []);
  const row = page.split('\n').find((line) => line.startsWith('| [tango]'))!;
  const cells = row.split('|').map((cell) => cell.trim());
  // At half of its tokens the one is at 0.3, where the other ends at 0.5 and 0.6: −20 and −30 points, sampled half of that.
  expect(cells[5]).toBe('2.00');
  expect(cells[6]).toMatch(/^−25\.0 \(/);
  expect(cells[8]).toMatch(/^−12\.5 \(/);
  expect(cells[9]).toMatch(/^\+10\.0 \(/);
  expect(cells[11]).toMatch(/^\+5\.0 \(/);
  expect(cells[1]).toBe('[tango](claims.md)');
  const line = [
    {
      recipe: 'tango',
      arms: arms.map((arm) => ({
        ...arm,
        runs: arm.runs.map((run) => ({ ...run, rounds: 1, heldout: [run.heldout[0]!, run.heldout[2]!] })),
      })),
    },
  ];
  expect(coTrainingPage(claimed, line as never, [])).toContain('[tango](claims.md) \\*');
});
