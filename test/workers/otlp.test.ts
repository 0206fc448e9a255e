/** Rounds as traces and figures as metrics, in the form that OpenTelemetry's protocol defines. */
import { expect, test } from 'vitest';
import { metricsBody, traceBody } from '../../workers/gateway/otlp.ts';
import { telemetryOf } from '../../workers/gateway/telemetry-settings.ts';

const ID = '0123456789abcdef0123456789abcdef';
const row = (more: object = {}) =>
  ({
    id: ID,
    run: 'f'.repeat(32),
    index: 3,
    spec: { settings: { recipe: 'trio', policy: 'p', seed: 7, rewardFunction: 'mix' } },
    state: 'done',
    expected: 64,
    version: 3,
    reason: null,
    createdAt: 1_700_000_000_000,
    rolloutAt: 1_700_000_001_500,
    trainingAt: 1_700_000_004_000,
    endedAt: 1_700_000_009_250,
    report: {
      learnerMs: 2000,
      monitors: { reward: 0.5, gold: null, tokens: 1000 },
      figures: { unanimous: 0.25, none: null },
    },
    ...more,
  }) as never;

// biome-ignore lint/suspicious/noExplicitAny: what is sent is plain JSON
const spansOf = (rounds: any): any[] => (traceBody(rounds) as any).resourceSpans[0].scopeSpans[0].spans;
const attributeOf = (span: { attributes: { key: string; value: object }[] }, key: string) =>
  span.attributes.find((attribute) => attribute.key === key)?.value;

test('a round is a trace: the whole, its states one after the other, the learner at the end', () => {
  const used = { rollout: { cpuMs: 12.5, requests: 3, queueOperations: 9 } };
  const spans = spansOf([{ row: row(), used }]);
  expect(spans.map(({ name }) => name)).toEqual(['round', 'proposing', 'rollout', 'training', 'learner']);
  const [round, ...parts] = spans;
  for (const span of spans) {
    expect(span.traceId).toBe(ID);
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
  }
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(5);
  expect(round.parentSpanId).toBeUndefined();
  for (const part of parts) expect(part.parentSpanId).toBe(round.spanId);
  const times = spans.map(({ startTimeUnixNano, endTimeUnixNano }) => [startTimeUnixNano, endTimeUnixNano]);
  expect(times).toEqual([
    ['1700000000000000000', '1700000009250000000'],
    ['1700000000000000000', '1700000001500000000'],
    ['1700000001500000000', '1700000004000000000'],
    ['1700000004000000000', '1700000009250000000'],
    ['1700000007250000000', '1700000009250000000'],
  ]);
  expect(round.status).toEqual({ code: 1 });
  expect(attributeOf(round, 'rollmesh.recipe')).toEqual({ stringValue: 'trio' });
  expect(attributeOf(round, 'rollmesh.reward')).toEqual({ doubleValue: 0.5 });
  expect(attributeOf(round, 'rollmesh.figure.unanimous')).toEqual({ doubleValue: 0.25 });
  for (const unknown of ['rollmesh.exact', 'rollmesh.loss', 'rollmesh.figure.none', 'rollmesh.variant'])
    expect(attributeOf(round, unknown)).toBeUndefined();
  expect(attributeOf(spans[2], 'rollmesh.rollout.cpu_ms')).toEqual({ doubleValue: 12.5 });
});

test('a round that failed while it was proposed has no later state, and its reason', () => {
  const early = { state: 'failed', reason: 'no task', rolloutAt: null, trainingAt: null, report: null };
  const spans = spansOf([{ row: row(early), used: {} }]);
  expect(spans.map(({ name }) => name)).toEqual(['round', 'proposing']);
  expect(spans[0].status).toEqual({ code: 2, message: 'no task' });
  expect(spans[1].endTimeUnixNano).toBe('1700000009250000000');
});

test('metrics are gauges and cumulative sums; those without a value are not sent', () => {
  const metrics = [
    { name: 'a_ratio', type: 'gauge', help: 'A.', values: [{ labels: { role: 'judge' }, value: 0.5 }] },
    { name: 'b_total', type: 'counter', help: 'B.', values: [{ value: 7 }] },
    { name: 'c', type: 'gauge', help: 'C.', values: [] },
  ] as const;
  const point = { timeUnixNano: '1700000000000000000' };
  expect(metricsBody(metrics, 1_700_000_000_000)).toEqual({
    resourceMetrics: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'rollmesh' } }] },
        scopeMetrics: [
          {
            scope: { name: 'rollmesh' },
            metrics: [
              {
                name: 'a_ratio',
                description: 'A.',
                gauge: {
                  dataPoints: [
                    {
                      ...point,
                      asDouble: 0.5,
                      attributes: [{ key: 'role', value: { stringValue: 'judge' } }],
                    },
                  ],
                },
              },
              {
                name: 'b_total',
                description: 'B.',
                sum: {
                  aggregationTemporality: 2,
                  isMonotonic: true,
                  dataPoints: [{ ...point, asDouble: 7, attributes: [] }],
                },
              },
            ],
          },
        ],
      },
    ],
  });
});

test('the settings are OpenTelemetry’s own', () => {
  expect(telemetryOf(undefined, 'a=b')).toBeUndefined();
  expect(telemetryOf('https://otlp.example/otlp/', 'authorization=Basic%20a2V5, x-team=edge')).toEqual({
    endpoint: 'https://otlp.example/otlp',
    headers: { authorization: 'Basic a2V5', 'x-team': 'edge' },
  });
  // A value that is not percent-encoded stands for itself; it must not stop the gateway.
  expect(telemetryOf('https://a.example', 'k=100%,=,x')?.headers).toEqual({ k: '100%' });
});
