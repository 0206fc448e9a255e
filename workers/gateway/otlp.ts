/**
 * Rounds as traces and figures as metrics, in the JSON form of OpenTelemetry's protocol (OTLP 1.x): Grafana, Honeycomb, Datadog, W&B and any
 * collector take it. Pure: it takes rows and returns what is sent.
 */
import type { UsageByStage } from '../../core/cost/usage.ts';
import { deriveId } from '../../core/random.ts';
import { OPEN_STATES } from '../../core/round/stages.ts';
import type { RoundRow } from '../store/rounds.ts';
import type { Metric } from './metrics.ts';

type Attribute = { readonly key: string; readonly value: object };
type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** What is not known is left out. */
function attributesOf(values: Attributes): Attribute[] {
  return Object.entries(values).flatMap(([key, value]): Attribute[] => {
    if (value === null || value === undefined) return [];
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }];
    if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }];
    return Number.isFinite(value) ? [{ key, value: { doubleValue: value } }] : [];
  });
}

const RESOURCE = { attributes: attributesOf({ 'service.name': 'rollmesh' }) };
const SCOPE = { name: 'rollmesh' };
const INTERNAL = 1;
const STATUS_OK = 1;
const STATUS_ERROR = 2;
/** Sums since the mesh began. */
const CUMULATIVE = 2;

const nanoseconds = (ms: number) => `${Math.round(ms * 1000)}000`;
const spanId = (round: string, name: string) => deriveId('span', round, name).slice(0, 16);

/** The stages of the platform that work while a round is in a state. */
const WORKING = {
  proposing: ['propose'],
  rollout: ['rollout', 'judge'],
  training: ['learner', 'gateway'],
} as const satisfies Record<(typeof OPEN_STATES)[number]['state'], readonly (keyof UsageByStage)[]>;

const usageOf = (used: UsageByStage, stages: readonly (keyof UsageByStage)[]): Attributes =>
  Object.fromEntries(
    stages.flatMap((stage) =>
      used[stage]
        ? [
            [`rollmesh.${stage}.cpu_ms`, used[stage].cpuMs],
            [`rollmesh.${stage}.requests`, used[stage].requests],
            [`rollmesh.${stage}.queue_operations`, used[stage].queueOperations],
          ]
        : [],
    ),
  );

/** A round that has ended, with what it used. */
export interface EndedRound {
  readonly row: RoundRow;
  readonly used: UsageByStage;
}

/** What a person looks for in a round, as attributes of its first span. */
function roundAttributes({ row, used }: EndedRound): Attributes {
  const { spec, report } = row;
  const { settings } = spec;
  const { monitors, training, evaluation, figures } = report ?? {};
  return {
    'rollmesh.run': row.run,
    'rollmesh.round': row.index,
    'rollmesh.recipe': settings.recipe,
    'rollmesh.policy': settings.policy,
    'rollmesh.seed': settings.seed,
    'rollmesh.reward_function': settings.rewardFunction,
    'rollmesh.variant': settings.variant,
    'rollmesh.version': row.version,
    'rollmesh.groups': row.expected,
    'rollmesh.reward': monitors?.reward,
    'rollmesh.exact': monitors?.gold,
    'rollmesh.tokens.generated': monitors?.tokens,
    'rollmesh.tokens.trained': training?.tokens,
    'rollmesh.loss': training?.loss,
    'rollmesh.gradient_norm': training?.gradientNorm,
    'rollmesh.heldout.accuracy': evaluation?.heldOut.accuracy,
    'rollmesh.heldout.sampled': evaluation?.heldOut.sampled,
    ...Object.fromEntries(
      Object.entries(figures ?? {}).map(([name, value]) => [`rollmesh.figure.${name}`, value]),
    ),
    ...usageOf(used, ['gateway']),
  };
}

/**
 * A round is a trace, whose id is the round's: a first span over the whole, one for each state that it went through, and one for the learner's
 * own time, which ends with the round.
 */
function spansOf(ended: EndedRound): object[] {
  const { row, used } = ended;
  const end = row.endedAt!;
  const root = spanId(row.id, 'round');
  const span = (name: string, from: number, to: number, attributes: Attributes, more: object = {}) => ({
    traceId: row.id,
    spanId: spanId(row.id, name),
    ...(name === 'round' ? {} : { parentSpanId: root }),
    name,
    kind: INTERNAL,
    startTimeUnixNano: nanoseconds(from),
    endTimeUnixNano: nanoseconds(Math.max(from, to)),
    attributes: attributesOf(attributes),
    ...more,
  });
  const states = OPEN_STATES.flatMap(({ state, since }, i) => {
    const from = row[since];
    if (from === null) return [];
    const next = OPEN_STATES.slice(i + 1).map((later) => row[later.since]);
    const to = next.find((at) => at !== null) ?? end;
    return [
      span(
        state,
        from,
        to,
        usageOf(
          used,
          WORKING[state].filter((stage) => stage !== 'gateway'),
        ),
      ),
    ];
  });
  const { learnerMs } = row.report ?? {};
  const learner = learnerMs === undefined ? [] : [span('learner', end - learnerMs, end, {})];
  const status =
    row.state === 'failed'
      ? { status: { code: STATUS_ERROR, message: row.reason ?? 'failed' } }
      : { status: { code: STATUS_OK } };
  return [span('round', row.createdAt, end, roundAttributes(ended), status), ...states, ...learner];
}

/** The body of a POST to `/v1/traces`. */
export const traceBody = (rounds: readonly EndedRound[]): object => ({
  resourceSpans: [{ resource: RESOURCE, scopeSpans: [{ scope: SCOPE, spans: rounds.flatMap(spansOf) }] }],
});

/** The body of a POST to `/v1/metrics`: the metrics of `/metrics` at this moment, those without a value left out. */
export function metricsBody(metrics: readonly Metric[], now: number): object {
  const shown = metrics.flatMap(({ name, type, help, values }) => {
    if (!values.length) return [];
    const dataPoints = values.map(({ labels, value }) => ({
      timeUnixNano: nanoseconds(now),
      asDouble: value,
      attributes: attributesOf(labels ?? {}),
    }));
    const data =
      type === 'gauge'
        ? { gauge: { dataPoints } }
        : { sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
    return [{ name, description: help, ...data }];
  });
  return {
    resourceMetrics: [{ resource: RESOURCE, scopeMetrics: [{ scope: SCOPE, metrics: shown }] }],
  };
}
