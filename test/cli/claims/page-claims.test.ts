import { expect, test } from 'vitest';
import { claimsForPage } from '../../../cli/claims/page-claims.ts';
import type { ClaimRecord } from '../../../cli/claims/record.ts';
import type { Summary } from '../../../core/schema/summary.ts';

const run = (points: readonly (readonly [round: number, accuracy: number])[]): Summary => ({
  kind: 'summary',
  recipe: 'trio',
  seed: 0,
  reward: 'mix',
  freeze: [],
  policy: 'p',
  from: 0,
  others: 0,
  rounds: 10,
  versions: {},
  heldout: points.map(([round, accuracy]) => ({
    round,
    task: 'arithmetic',
    n: 500,
    accuracy,
    sampled: accuracy / 2,
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

test('curves are means over the seeds at the rounds that every seed has', () => {
  const record: ClaimRecord = {
    recipe: 'trio',
    claim: 'It rises.',
    verdict: 'partly',
    conditions: [{ description: 'rises', bound: 'at least 0.2', measured: [0.3, 0.1], holds: false }],
    machine: { cpu: 'x', cores: 2, node: 'v20', commit: 'abc', at: '2026-01-01' },
    settings: { start: 'arithmetic-base', tasks: 64, group: 8, evaluateEvery: 5, sets: {} },
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
