/** The tables of test/bench/elastic.md: what the records say, with a column for each engine, and made anew where a record has changed. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Engine } from '../../core/policy/policy.ts';
import { type ElasticRecord, withTables } from './elastic/page.ts';
import { elasticRecords } from './elastic.ts';

const recordOf = (engine: Engine, open: number, error: number): ElasticRecord => ({
  engine,
  machine: {
    cpu: 'a processor',
    cores: 2,
    platform: 'linux',
    node: 'v24.1.0',
    commit: 'abc',
    at: '2026-01-02T03:04',
  },
  fit: {
    work: {
      open,
      propose: { base: 12.34, task: 0.5 },
      rollout: { batch: 1, task: 2, sample: 3 },
      judge: { batch: 4, task: 5, sample: 6 },
      learner: { base: 123.4, sample: 7, change: 890 },
    },
    wait: 8,
    fetch: 9,
  },
  checks: [
    { setting: { tasks: 16, group: 8, runs: 2 }, measuredMs: 100, predictedMs: 100 * (1 + error), error },
  ],
  sweeps: {
    'as designed': [10, 1000].map((isolates) => ({
      isolates,
      roundSeconds: open + isolates / 1000,
      samplesPerSecond: 56.4,
      staleness: 0.75,
      idle: { isolates: 0.974, learner: 0.5, d1: 0.99 },
      mostAtOnce: 4,
      dollarsPerRound: 0.00123,
      dollarsPerMillionTokens: 0.218,
      lifted: [
        { limit: 'training', gain: 2.345 },
        { limit: 'isolates', gain: 1.5 },
        { limit: 'R2', gain: 1.1 },
      ],
    })),
  },
});

test('every engine that was measured has its columns', () => {
  const empty =
    'before\n<!-- engines: made by `npm run bench -- elastic --page` -->\nold\n<!-- end of engines -->\nbetween\n' +
    '<!-- sweeps: made by `npm run bench -- elastic --page` -->\nold\n<!-- end of sweeps -->\nafter';
  const page = withTables(empty, [recordOf('onnx', 36, 0.038), recordOf('kernels', 9, -0.12)]);
  for (const line of [
    '| work, ms | ONNX Runtime | kernels |',
    '| to open a version | 36.0 | 9.00 |',
    '| to propose: a round, a task | 12.3, 0.50 | 12.3, 0.50 |',
    '| to train: a round, a sample | 123, 7.00 | 123, 7.00 |',
    '| 16 tasks × 8, 2 runs at once | 100 ms | 104 ms | +3.8 % | 100 ms | 88 ms | −12.0 % |',
    '| as designed | 36.0 | 9.0 | 37.0 | 10.0 |',
    '**As designed**',
    '| 10 | 4 | 36.0 | 56 | 97 % / 50 % / 99 % | 0.75 | 0.0012 | 0.22 | training 2.35×, isolates 1.50× |',
  ])
    expect(page.split('\n')).toContain(line);
  expect(page).toMatch(/^before\n/);
  expect(page).toMatch(/\nafter$/);
  expect(page).not.toContain('\nold\n');
});

test('the page has what the records say: else run `npm run bench -- elastic --page`', () => {
  const page = readFileSync('test/bench/elastic.md', 'utf8');
  expect(elasticRecords().map(({ engine }) => engine)).toContain('onnx');
  expect(withTables(page, elasticRecords())).toBe(page);
});
