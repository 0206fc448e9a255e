import { expect, test } from 'vitest';
import { picturesOf } from '../../../cli/claims/page.ts';
import { claimsForPage } from '../../../cli/claims/page-claims.ts';
import type { Judged } from '../../../cli/claims/record.ts';
import { runOf } from '../../core/claims/runs.ts';

const run = (points: readonly (readonly [round: number, accuracy: number])[]) => {
  const played = runOf(...points.map(([, accuracy]) => accuracy));
  return { ...played, heldout: played.heldout.map((point, i) => ({ ...point, round: points[i]![0] })) };
};

test('curves are means over the seeds at the rounds that every seed has', () => {
  const record: Judged = {
    recipe: 'trio',
    claim: 'It rises.',
    verdict: 'partly',
    conditions: [
      {
        description: 'rises',
        bound: 'at least 0.2',
        measured: [0.3, 0.1],
        interval: { mean: 0.2, low: -1.07, high: 1.47 },
        outcome: 'within noise',
      },
    ],
    observations: [],
    attempts: { recipe: 'trio', earlier: [], starts: 1, moved: [], pilots: [] },
    attempt: 1,
    machine: { cpu: 'x', cores: 2, node: 'v20', commit: 'abc', at: '2026-01-01' },
    settings: { start: 'arithmetic-base', tasks: 64, groupSize: 8, evaluateEvery: 5, sets: {} },
    rounds: 10,
    seeds: [0, 1],
    arms: [
      {
        name: 'mix',
        reward: 'mix',
        freeze: [],
        description: 'the default',
        runs: [
          run([
            [0, 0.3],
            [5, 0.4],
            [10, 0.6],
          ]),
          run([
            [0, 0.4],
            [10, 0.7],
          ]),
        ],
      },
    ],
  };
  const { trio } = claimsForPage([record]);
  expect(trio).toMatchObject({ claim: 'It rises.', verdict: 'partly', commit: 'abc', seeds: [0, 1] });
  expect(trio!.arms).toEqual([
    {
      name: 'mix',
      description: 'the default',
      rounds: [0, 10],
      curves: { accuracy: [0.35, 0.65], sampled: [0.175, 0.325], forcedWorked: [0.7, 0.7] },
    },
  ]);
});

test('a claim that names no curves has none of what no run measured', () => {
  const whole = run([[0, 0.3]]);
  const unforced = { ...whole, heldout: whole.heldout.map((point) => ({ ...point, forcedWorked: null })) };
  expect(Object.keys(picturesOf({ arms: [{ runs: [unforced] }] }))).toEqual(['accuracy', 'sampled']);
  expect(Object.keys(picturesOf({ arms: [{ runs: [unforced] }, { runs: [whole] }] }))).toEqual([
    'accuracy',
    'sampled',
    'forcedWorked',
  ]);
  const pictures = { forcedWorked: 'Steps' };
  expect(picturesOf({ pictures, arms: [{ runs: [unforced] }] })).toBe(pictures);
});
