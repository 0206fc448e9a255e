/** Defines the metrics that the mesh exposes: their names, help texts and values. */
import { GROUP_STATES, OPEN_STATES, ROUND_STATES } from '../../core/round/stages.ts';
import type { RoundRow } from '../store/rounds.ts';
import type { MeshStatistics } from '../store/statistics.ts';
import { learningMetrics } from './learning-metrics.ts';
import type { Metric } from './metrics.ts';
import { usageMetrics } from './usage-metrics.ts';

const seconds = (from: number | null, to: number | null) =>
  from === null || to === null ? null : (to - from) / 1000;

/** The time that a finished round spent in each state. */
const stateTimes = (row: RoundRow | undefined) =>
  row
    ? OPEN_STATES.flatMap(({ state, since }, i) => {
        const value = seconds(row[since], row[OPEN_STATES[i + 1]?.since ?? 'endedAt']);
        return value === null ? [] : [{ labels: { state }, value }];
      })
    : [];

/** The number of messages that wait in a queue, as the platform counts them; null if it does not say. */
export interface QueueDepth {
  readonly queue: string;
  readonly messages: number;
  readonly oldestAt: number | null;
}

const queueMetrics = (depths: readonly QueueDepth[], now: number): Metric[] => [
  {
    name: 'rollmesh_queue_messages',
    type: 'gauge',
    help: 'Messages that wait, by the stage they are for.',
    values: depths.map(({ queue, messages }) => ({ labels: { queue }, value: messages })),
  },
  {
    name: 'rollmesh_queue_oldest_message_age_seconds',
    type: 'gauge',
    help: 'Age of the oldest message that waits.',
    values: depths.flatMap(({ queue, oldestAt }) =>
      oldestAt === null ? [] : [{ labels: { queue }, value: (now - oldestAt) / 1000 }],
    ),
  },
];

const totalMetrics = ({ totals, stored }: MeshStatistics): Metric[] => [
  {
    name: 'rollmesh_proposals_total',
    type: 'counter',
    help: 'Proposals written; those that passed the gates are counted as admitted.',
    values: [
      { labels: { outcome: 'admitted' }, value: totals.admitted },
      { labels: { outcome: 'rejected' }, value: totals.proposed - totals.admitted },
    ],
  },
  {
    name: 'rollmesh_tokens_total',
    type: 'counter',
    help: 'Tokens that the learner reported as generated, and as trained on.',
    values: [
      { labels: { what: 'generated' }, value: totals.generated },
      { labels: { what: 'trained' }, value: totals.trained },
    ],
  },
  {
    name: 'rollmesh_version_bytes',
    type: 'gauge',
    help: 'Bytes of all stored policy versions.',
    values: [{ value: stored }],
  },
];

/** How many versions lie between the one that the last round sampled from and the one that it trained. 1 = on-policy. */
function stalenessOf(row: RoundRow | undefined): Metric['values'] {
  if (!row || row.version === null) return [];
  const { version, spec } = row;
  return Object.entries(spec.roles).flatMap(([role, ref]) =>
    ref.name === spec.settings.policy ? [{ labels: { role }, value: version - ref.version }] : [],
  );
}

export function meshMetrics(of: MeshStatistics, depths: readonly QueueDepth[], now: number): Metric[] {
  const roundCounts = new Map(of.roundsByState.map(({ state, n }) => [state, n]));
  const stateCounts = new Map(of.groupsByState.map(({ state, n }) => [state, n]));
  return [
    {
      name: 'rollmesh_rounds',
      type: 'gauge',
      help: 'Rounds by state.',
      values: ROUND_STATES.map((state) => ({ labels: { state }, value: roundCounts.get(state) ?? 0 })),
    },
    {
      name: 'rollmesh_groups',
      type: 'gauge',
      help: 'Groups by state.',
      values: GROUP_STATES.map((state) => ({ labels: { state }, value: stateCounts.get(state) ?? 0 })),
    },
    {
      name: 'rollmesh_group_failures',
      type: 'gauge',
      help: 'Failed groups by kind of failure.',
      values: of.byFailure.map(({ kind, n }) => ({ labels: { kind }, value: n })),
    },
    {
      name: 'rollmesh_dead_letters',
      type: 'gauge',
      help: 'Messages that wait to be replayed, by the stage they were for.',
      values: of.letters.map(({ queue, n }) => ({ labels: { queue }, value: n })),
    },
    {
      name: 'rollmesh_round_idle_seconds',
      type: 'gauge',
      help: 'Time since the last progress of the round that waits longest, by its state.',
      values: of.oldest.map(({ state, touchedAt }) => ({
        labels: { state },
        value: (now - touchedAt) / 1000,
      })),
    },
    {
      name: 'rollmesh_last_round_state_seconds',
      type: 'gauge',
      help: 'Time that the last finished round spent in each state.',
      values: stateTimes(of.last),
    },
    {
      name: 'rollmesh_last_round_version_lag',
      type: 'gauge',
      help: 'Versions between what the last finished round was sampled with and what it made, by role. 1 = on policy.',
      values: stalenessOf(of.last),
    },
    {
      name: 'rollmesh_policy_version',
      type: 'gauge',
      help: 'Current version of each policy.',
      values: of.pointers.map(({ policy, version }) => ({ labels: { policy }, value: version })),
    },
    ...learningMetrics(of.trained, of.evaluated),
    ...totalMetrics(of),
    ...usageMetrics(of.used),
    ...queueMetrics(depths, now),
  ];
}
