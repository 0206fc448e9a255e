import { expect, test } from 'vitest';
import { type ArmResults, atEnd, highest, judgeCondition, lost, rise, verdictOf } from '../../core/claim.ts';
import type { Summary } from '../../core/schema/summary.ts';

const runOf = (...accuracy: number[]): Summary => ({
  kind: 'summary',
  recipe: 'trio',
  seed: 0,
  reward: 'mix',
  freeze: [],
  policy: 'p',
  from: 0,
  others: 0,
  rounds: accuracy.length - 1,
  versions: {},
  heldout: accuracy.map((value, round) => ({
    round,
    task: 'arithmetic',
    n: 500,
    accuracy: value,
    sampled: value / 2,
    worked: 0,
    forcedWorked: 0.7,
  })),
  judge: [],
  proposer: [],
  groups: { proposed: 0, admitted: 0, scored: 0, trained: 0, stale: 0, failed: 0 },
  duplicates: 0,
  tokens: { generated: 0, trained: 0 },
  wallMs: 0,
  learnerMs: 0,
  rolloutMs: 0,
});
const results = {
  a: [runOf(0.3, 0.8, 0.7), runOf(0.3, 0.5, 0.6)],
  b: [runOf(0.3, 0.34, 0.2), runOf(0.3, 0.3, 0.33)],
};

test('figures of a run: at the end, its rise, its highest rise, what it lost from its best', () => {
  expect(atEnd(results, 'a', 0, 'sampled')).toBe(0.35);
  expect(rise(results, 'a', 0, 'accuracy')).toBeCloseTo(0.4);
  expect(highest(results, 'b', 0)).toBeCloseTo(0.04);
  expect(lost(results, 'a', 0)).toBeCloseTo(0.1);
});

test('a condition holds if the mean over the seeds keeps the bound and most seeds do; equality is not lost to rounding', () => {
  const of = (...values: number[]) => ({
    description: '',
    measure: (_: ArmResults, seed: number) => values[seed]!,
  });
  const holds = (values: number[], bound: { atLeast?: number; atMost?: number; everySeed?: boolean }) =>
    judgeCondition({ ...of(...values), ...bound }, results, values.length).holds;
  expect(holds([0.3, 0.4, 0.1], { atLeast: 0.2 })).toBe(true);
  expect(holds([0.3, 0.4, 0.1], { atLeast: 0.2, everySeed: true })).toBe(false);
  expect(holds([0.3, 0.4, 0.2], { atLeast: 0.2, everySeed: true })).toBe(true);
  // The mean of .4 is one seed's doing.
  expect(holds([1, 0.1, 0.1], { atLeast: 0.2 })).toBe(false);
  // Two of three keep it, and the third undoes them.
  expect(holds([0.2, 0.2, -0.9], { atLeast: 0.2 })).toBe(false);
  expect(holds([0, 0.2, 0.6], { atMost: 0.2 })).toBe(false);
  const risen = {
    description: 'a rises',
    measure: (r: ArmResults, s: number) => rise(r, 'a', s, 'accuracy'),
  };
  expect(judgeCondition({ ...risen, atLeast: 0.3 }, results, 2).holds).toBe(true);
  expect(
    judgeCondition({ description: '', measure: () => 0.372 - 0.342, atMost: 0.03 }, results, 2).holds,
  ).toBe(true);
  expect(judgeCondition({ description: '', measure: () => Number.NaN, atMost: 1 }, results, 2).holds).toBe(
    false,
  );
});

test('the verdict counts conditions', () => {
  const judged = (holds: boolean) => ({ description: '', bound: '', measured: [], holds });
  expect(verdictOf([judged(true), judged(true)])).toBe('reproduced');
  expect(verdictOf([judged(true), judged(false)])).toBe('partly');
  expect(verdictOf([judged(false)])).toBe('not reproduced');
});
