/** Prometheus' text format, by its own rules: escaping, HELP and TYPE before values, names that end in their unit. */
import { expect, test } from 'vitest';
import { NOTHING_USED } from '../../core/cost/usage.ts';
import type { MeshStatistics } from '../../store/statistics.ts';
import { meshMetrics } from '../../workers/gateway/mesh-metrics.ts';
import { prometheusText } from '../../workers/gateway/metrics.ts';

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
  byStage: [],
  byState: [],
  byFailure: [],
  letters: [],
  pointers: [],
  oldest: [],
  last: undefined,
  totals: { proposed: 10, admitted: 7, generated: 0, trained: 0 },
  stored: 0,
  used: [],
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
