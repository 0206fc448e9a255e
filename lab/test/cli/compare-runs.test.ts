import { expect, test } from 'vitest';
import { differentRuns } from '../../cli/compare-runs.ts';
import { runOf } from '../rule/runs.ts';

const arm = (name: string, ...runs: ReturnType<typeof runOf>[]) => ({ name, description: '', runs });
const seed = (n: number, ...accuracy: number[]) => ({ ...runOf(...accuracy), seed: n });

test('runs are the same where all but their times are', () => {
  const record = { arms: [arm('mix', seed(30, 0.1, 0.2), seed(31, 0.1, 0.3)), arm('random', seed(30, 0.1))] };
  const slower = { ...seed(31, 0.1, 0.3), wallMs: 9, learnerMs: 5, rolloutMs: 4 };
  const again = { arms: [arm('random', seed(30, 0.1)), arm('mix', slower, seed(30, 0.1, 0.2))] };
  expect(differentRuns(record, again)).toEqual({ runs: 3, different: [] });
});

test('a run that differs in one figure, and one that is missing, are named', () => {
  const record = { arms: [arm('mix', seed(30, 0.1, 0.2), seed(31, 0.1, 0.3))] };
  const other = { ...seed(30, 0.1, 0.2), tokens: { generated: 1e6 + 1, trained: 5e5 } };
  const again = { arms: [arm('mix', other)] };
  expect(differentRuns(record, again)).toEqual({
    runs: 2,
    different: [
      { arm: 'mix', seed: 30, fields: ['tokens'] },
      { arm: 'mix', seed: 31, fields: [] },
    ],
  });
});
