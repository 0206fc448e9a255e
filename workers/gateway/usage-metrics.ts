/** Metrics of what the rounds used of the platform and what that costs, as counters. */
import { costOf } from '../../core/cost/cost.ts';
import type { Usage } from '../../core/cost/usage.ts';
import type { UsageStage } from '../../core/round/stages.ts';
import type { Metric } from './metrics.ts';

type UsedByStage = readonly (Usage & { readonly stage: UsageStage })[];

export function usageMetrics(used: UsedByStage): Metric[] {
  const counter = (name: string, help: string, values: Metric['values']): Metric => ({
    name: `rollmesh_${name}_total`,
    type: 'counter',
    help,
    values,
  });
  const by = (of: (used: Usage) => number, labels: Readonly<Record<string, string>> = {}) =>
    used.map((row) => ({ labels: { stage: row.stage, ...labels }, value: of(row) }));
  return [
    counter(
      'requests',
      'Requests and batches of messages that Workers took for rounds.',
      by((u) => u.requests),
    ),
    counter(
      'cpu_seconds',
      'Time in which Workers worked for rounds and did not wait.',
      by((u) => u.cpuMs / 1000),
    ),
    counter(
      'queue_operations',
      'Messages written, read and deleted, by 64 kB.',
      by((u) => u.queueOperations),
    ),
    counter('d1_rows', 'Rows that D1 says it touched.', [
      ...by((u) => u.d1RowsRead, { operation: 'read' }),
      ...by((u) => u.d1RowsWritten, { operation: 'written' }),
    ]),
    counter('r2_operations', 'Operations on objects by billing class: a = write or list, b = read.', [
      ...by((u) => u.r2ClassA, { class: 'a' }),
      ...by((u) => u.r2ClassB, { class: 'b' }),
    ]),
    counter('r2_bytes', 'Bytes of objects.', [
      ...by((u) => u.r2BytesWritten, { operation: 'written' }),
      ...by((u) => u.r2BytesRead, { operation: 'read' }),
    ]),
    counter(
      'cost_dollars',
      'What all this costs at the published prices, one month of storage included. Stage idle: pulls of the learner that found nothing.',
      by((u) => costOf(u).total),
    ),
  ];
}
