/** Prometheus' text format, by its own rules: escaping, HELP and TYPE before values, names that end in their unit. */
import { expect, test } from 'vitest';
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

test('an empty mesh exposes every metric, and its known label values as zero', () => {
  const none = {
    byStage: [],
    byState: [],
    byFailure: [],
    letters: [],
    pointers: [],
    oldest: [],
    last: undefined,
  };
  const metrics = meshMetrics(none, 0);
  for (const { name } of metrics) expect(name).toMatch(/^rollmesh_[a-z_]+$/);
  const rounds = metrics.find(({ name }) => name === 'rollmesh_rounds');
  expect(rounds?.values).toHaveLength(5);
  expect(rounds?.values.every(({ value }) => value === 0)).toBe(true);
});
