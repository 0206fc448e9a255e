/** Prometheus' text format, by its own rules: escaping, HELP and TYPE before values, names that end in their unit. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NOTHING_USED } from '../../core/cost/usage.ts';
import { meshMetrics } from '../../workers/gateway/mesh-metrics.ts';
import { prometheusText } from '../../workers/gateway/metrics.ts';
import type { MeshStatistics } from '../../workers/store/statistics.ts';

test('labels and help are escaped', () => {
  const metric = {
    name: 'x_seconds',
    type: 'gauge',
    help: 'two\nlines \\ one',
    values: [{ labels: { who: 'a"b\\c\nd' }, value: 1.5 }, { value: 2 }],
  } as const;
  expect(prometheusText([metric])).toBe(
    '# HELP x_seconds two\\nlines \\\\ one\n# TYPE x_seconds gauge\nx_seconds{who="a\\"b\\\\c\\nd"} 1.5\nx_seconds 2\n',
  );
});

const none: MeshStatistics = {
  roundsByState: [],
  groupsByState: [],
  byFailure: [],
  letters: [],
  pointers: [],
  oldest: [],
  last: undefined,
  totals: { proposed: 10, admitted: 7, generated: 0, trained: 0 },
  stored: 0,
  used: [],
  trained: [],
  evaluated: [],
};

test('an empty mesh exposes every metric, and its known label values as zero', () => {
  const metrics = meshMetrics(none, [], 0);
  for (const { name, type } of metrics) {
    expect(name).toMatch(/^rollmesh_[a-z][a-z0-9_]+$/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
  }
  const rounds = metrics.find(({ name }) => name === 'rollmesh_rounds');
  expect(rounds?.values).toHaveLength(5);
  expect(rounds?.values.every(({ value }) => value === 0)).toBe(true);
});

test('what rounds used, in base units, and its price', () => {
  const used = { ...NOTHING_USED, requests: 1_000_000, cpuMs: 2500, d1RowsRead: 40, d1RowsWritten: 4 };
  const text = prometheusText(meshMetrics({ ...none, used: [{ stage: 'judge', ...used }] }, [], 0));
  // A million requests at 0.30 dollars, 2500 ms at 0.02 a million, 40 rows at 0.001 and 4 at 1 a million.
  const dollars = 0.3 + 5e-5 + 4e-8 + 4e-6;
  expect(text).toContain('\nrollmesh_cpu_seconds_total{stage="judge"} 2.5\n');
  expect(text).toContain('\nrollmesh_d1_rows_total{stage="judge",operation="written"} 4\n');
  const cost = Number(/rollmesh_cost_dollars_total\{stage="judge"\} (\S+)/.exec(text)?.[1]);
  expect(cost).toBeCloseTo(dollars, 12);
});

test('what is derived: rejected proposals, ages in seconds', () => {
  const metrics = meshMetrics(none, [{ queue: 'judge', messages: 3, oldestAt: 4000 }], 10_000);
  const values = (name: string) => metrics.find((metric) => metric.name === name)?.values;
  expect(values('rollmesh_proposals_total')?.map(({ value }) => value)).toEqual([7, 3]);
  expect(values('rollmesh_queue_oldest_message_age_seconds')).toEqual([
    { labels: { queue: 'judge' }, value: 6 },
  ]);
});

const trainedRow = {
  run: 'a'.repeat(32),
  index: 3,
  version: 5,
  spec: {
    settings: { recipe: 'trio', policy: 'trio-0', seed: 0 },
    roles: { solver: { name: 'trio-0', version: 3 } },
  },
  report: {
    monitors: { reward: 0.5, gold: null, tokens: 300 },
    training: {
      loss: -0.25,
      gradientNorm: 2,
      roles: { solver: { entropy: 0.75, klToStart: 0.125 } },
      mismatch: {},
      ratio: {},
    },
    figures: { approved: 0.5 },
    rolloutMs: 1500,
  },
} as unknown as MeshStatistics['trained'][number];

test('what a run learns: its figures with its labels, and nothing where nothing was measured', () => {
  const text = prometheusText(meshMetrics({ ...none, trained: [trainedRow] }, [], 0));
  const labels = `run="${'a'.repeat(32)}",recipe="trio",policy="trio-0",seed="0"`;
  expect(text).toContain(`\nrollmesh_run_reward{${labels}} 0.5\n`);
  expect(text).toContain(`\nrollmesh_run_loss{${labels}} -0.25\n`);
  expect(text).toContain(`\nrollmesh_run_entropy_nats{${labels},role="solver"} 0.75\n`);
  // 5 was made of samples of 3; 300 tokens in 1.5 s
  expect(text).toContain(`\nrollmesh_run_staleness_versions{${labels},role="solver"} 2\n`);
  expect(text).toContain(`\nrollmesh_run_generated_tokens_per_second{${labels}} 200\n`);
  expect(text).toContain(`\nrollmesh_run_figure{${labels},figure="approved"} 0.5\n`);
  expect(text).not.toMatch(/^rollmesh_run_gold_ratio\{/m);
});

test('the Grafana board asks for metrics that exist', () => {
  const board = readFileSync(new URL('../../docs/monitoring/grafana.json', import.meta.url), 'utf8');
  const known = new Set(meshMetrics(none, [], 0).map(({ name }) => name));
  const asked = new Set(board.match(/rollmesh_[a-z_]+/g));
  expect(asked.size).toBeGreaterThan(10);
  expect([...asked].filter((name) => !known.has(name))).toEqual([]);
});
