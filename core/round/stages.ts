/**
 * The stages of a round, in order. From this one table follow the queues, the Workers and the order of their deployment, the states
 * of a round and of a group, who is counted in the usage, and what the page shows. A message asks a stage for work; the state of a
 * round says which messages it still waits for.
 */

/** Stages that a Worker does. `name` is that of its messages and of its usage; `worker` is its environment of wrangler.toml. */
const WORKED = [
  /** Writes the round's tasks. */
  { name: 'propose', worker: 'proposer', during: 'proposing' },
  /** Rolls groups out. */
  { name: 'rollout', worker: 'rollout', during: 'rollout' },
  /** Judges and rewards groups, and seals them. */
  { name: 'judge', worker: 'judge', during: 'rollout' },
] as const;
/** The learner's stage. The learner pulls its messages: no Worker consumes that queue. */
const PULLED = { name: 'scored', worker: null, during: 'training' } as const;
export const STAGES = [...WORKED, PULLED] as const;

/** The states of a round that still has work to do, each with the field that says since when. */
export const OPEN_STATES = [
  { state: 'proposing', since: 'createdAt' },
  { state: 'rollout', since: 'rolloutAt' },
  { state: 'training', since: 'trainingAt' },
] as const satisfies readonly { readonly state: (typeof STAGES)[number]['during']; readonly since: string }[];

/** One column of a table, as a tuple. */
function column<const T extends readonly object[], K extends keyof T[number]>(
  rows: T,
  key: K,
): { readonly [I in keyof T]: T[I][K & keyof T[I]] };
function column(rows: readonly Readonly<Record<string, string>>[], key: string): unknown {
  return rows.map((row) => row[key]);
}

type Ordered<T extends readonly { readonly name: string; readonly during: string }[]> = {
  readonly [I in keyof T]: Readonly<Pick<T[I], 'name' | 'during'>>;
};
/** The stages in order, each with the state of a round in which it works: what the page, which has no build, repeats under this type. */
export type StageOrder = Ordered<typeof STAGES>;

export const QUEUE_NAMES = column(STAGES, 'name');
export type QueueName = (typeof QUEUE_NAMES)[number];

export const WORKER_STAGES = column(WORKED, 'name');
export type WorkerStage = (typeof WORKER_STAGES)[number];

/** What may become of a run: it goes on, was ended, or waits to be resumed. */
export const RUN_STATES = ['open', 'stopped', 'paused'] as const;

/** The name of a stage's queue on the platform. */
export const queueOf = <S extends QueueName>(name: S) => `rollmesh-${name}` as const;
/** The queue that the learner pulls. */
export const PULLED_QUEUE = queueOf(PULLED.name);

/** Environments of wrangler.toml that every mesh has, one Worker each. */
export const WORKER_NAMES = ['gateway', ...column(WORKED, 'worker')] as const;
export type MeshWorker = (typeof WORKER_NAMES)[number];

/** The Worker of a mesh that names an environment of somebody else: it holds episodes there, and has a queue that is no stage's. */
export const ENVIRONMENT_WORKER = 'environment';
export const EPISODE_QUEUE = 'rollmesh-episode';
export type WorkerName = MeshWorker | typeof ENVIRONMENT_WORKER;

/** Something of each Worker of a mesh. */
export type ByWorker<T> = Readonly<Record<MeshWorker, T>> & { readonly [ENVIRONMENT_WORKER]?: T };

/**
 * Consumers come before producers, so that nothing is sent that the next stage cannot read yet. The gateway comes after them: it sends to every
 * queue when it drives a stalled round again, and on a first deployment no request is accepted until everything else is there. The environment
 * Worker is bound to the gateway, which has to be there; its messages wait until they are read.
 */
const DEPLOY_ORDER: readonly WorkerName[] = [...[...WORKER_NAMES].reverse(), ENVIRONMENT_WORKER];

/** The Workers of a mesh in the order of their deployment. */
export const deployOrder = (workers: ByWorker<unknown>): readonly WorkerName[] =>
  DEPLOY_ORDER.filter((worker) => workers[worker] !== undefined);

export const OPEN_ROUNDS = column(OPEN_STATES, 'state');
export type OpenRound = (typeof OPEN_ROUNDS)[number];

/** The states of a round. */
export const ROUND_STATES = [...OPEN_ROUNDS, 'done', 'failed'] as const;
export type StateOfRound = (typeof ROUND_STATES)[number];

/** The states of a group. They only go forward, unless a dead letter is replayed. */
export const GROUP_STATES = ['rollout', 'scored', 'trained', 'failed'] as const;
export type GroupState = (typeof GROUP_STATES)[number];

/** The states of a group that waits for something, each with the state of its round meanwhile. */
export const WAITING_GROUPS = { rollout: 'rollout', scored: 'training' } as const satisfies Readonly<
  Partial<Record<GroupState, OpenRound>>
>;

/**
 * Whose usage is counted: the stages' Workers, the gateway for the mesh itself, and gateway and queue for the learner. `idle` are the
 * learner's pulls that found nothing: they are the price of a mesh that waits, and belong to no round.
 */
export const USAGE_STAGES = [...WORKER_STAGES, 'gateway', 'learner', 'idle'] as const;
export type UsageStage = (typeof USAGE_STAGES)[number];
