/**
 * The stages of a round, in order: one table, from which follow the queues, the Workers and the order of their deployment, the states
 * of a round and of a group, who is counted in the books, and what the page shows. A message asks a stage for work; where a round
 * stands says which messages it still waits for.
 */

/** Stages that a Worker does. `name` is that of its messages and of its entry in the books; `worker` its environment of wrangler.toml. */
const WORKED = [
  /** Writes the round's tasks. */
  { name: 'propose', worker: 'proposer', during: 'proposing' },
  /** Rolls groups out. */
  { name: 'rollout', worker: 'rollout', during: 'rollout' },
  /** Judges and rewards groups, and seals them. */
  { name: 'judge', worker: 'judge', during: 'rollout' },
] as const;
/** What is left to the learner, which pulls its messages: no Worker consumes that queue. */
const PULLED = { name: 'scored', worker: null, during: 'training' } as const;
export const STAGES = [...WORKED, PULLED] as const;

/** Where a round stands while it still has something to do, and the time since when. */
export const OPEN_STATES = [
  { state: 'proposing', since: 'createdAt' },
  { state: 'rollout', since: 'rolloutAt' },
  { state: 'training', since: 'trainingAt' },
] as const satisfies readonly { readonly state: (typeof STAGES)[number]['during']; readonly since: string }[];

/** A column of a table, as a tuple. */
function column<const T extends readonly object[], K extends keyof T[number]>(
  rows: T,
  key: K,
): { readonly [I in keyof T]: T[I][K & keyof T[I]] };
function column(rows: readonly Readonly<Record<string, string>>[], key: string): unknown {
  return rows.map((row) => row[key]);
}

export const QUEUE_NAMES = column(STAGES, 'name');
export type QueueName = (typeof QUEUE_NAMES)[number];

export const WORKER_STAGES = column(WORKED, 'name');
export type WorkerStage = (typeof WORKER_STAGES)[number];

/** How a stage's queue is called on the platform. */
export const queueOf = <S extends QueueName>(name: S) => `rollmesh-${name}` as const;
/** The queue that the learner pulls. */
export const PULLED_QUEUE = queueOf(PULLED.name);

/** Environments of wrangler.toml, one Worker each. */
export const WORKER_NAMES = ['gateway', ...column(WORKED, 'worker')] as const;
export type WorkerName = (typeof WORKER_NAMES)[number];

/**
 * Consumers before producers, so that nobody ever sends what the next stage cannot read yet. The gateway is last: it sends to every
 * queue when it drives a stalled round again, and on a first deployment it is the door, which opens when all is there.
 */
export const DEPLOY_ORDER: readonly WorkerName[] = [...WORKER_NAMES].reverse();

export const OPEN_ROUNDS = column(OPEN_STATES, 'state');
export type OpenRound = (typeof OPEN_ROUNDS)[number];

/** Where a round may stand. */
export const ROUND_STATES = [...OPEN_ROUNDS, 'done', 'failed'] as const;
export type RoundStage = (typeof ROUND_STATES)[number];

/** Where a group may stand; it only goes forward, unless a dead letter is replayed. */
export const GROUP_STATES = ['rollout', 'scored', 'trained', 'failed'] as const;
export type GroupState = (typeof GROUP_STATES)[number];

/** Groups that wait for something, and where their round stands meanwhile. */
export const WAITING_GROUPS = { rollout: 'rollout', scored: 'training' } as const satisfies Readonly<
  Partial<Record<GroupState, OpenRound>>
>;

/** Who uses the platform: the stages' Workers, the gateway for the mesh itself, and gateway and queue for the learner. */
export const USAGE_STAGES = [...WORKER_STAGES, 'gateway', 'learner'] as const;
export type UsageStage = (typeof USAGE_STAGES)[number];
