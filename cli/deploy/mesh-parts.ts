/** The parts of a deployed mesh: its Workers in their order, the secrets that each needs, and the settings of the learner's queue. */
import type { ByWorker, WorkerName } from '../../core/round/stages.ts';
import type { SECRET_NAMES } from '../../local/mesh/secrets.ts';

export type Environment = WorkerName;

/** The first follows from `LEARNER_TOKEN`; the others are made at random. */
export type SecretName = 'AGENTS_TOKEN' | (typeof SECRET_NAMES)[number];
export const SECRETS_OF: Readonly<Record<Environment, readonly SecretName[]>> = {
  judge: ['MESH_KEY'],
  rollout: [],
  proposer: [],
  gateway: ['WEBHOOK_SECRET', 'LEARNER_TOKEN'],
  environment: ['AGENTS_TOKEN'],
};

/** The lease of a pulled message in seconds, and how often the message is delivered again before it becomes a dead letter. */
export const PULL_CONSUMER = { visibilitySeconds: 600, retries: 10 } as const;

export interface Wanted {
  readonly database: string;
  readonly bucket: string;
  readonly queues: readonly string[];
  /** The queue that the learner pulls: no Worker consumes it. */
  readonly pullQueue: string;
  readonly deadLetters: string;
  /** Names of the migration files, in the order in which they are applied. */
  readonly migrations: readonly string[];
  /** Names of the Workers. */
  readonly workers: ByWorker<string>;
  /** Entry points of the Workers. */
  readonly mains: ByWorker<string>;
}
