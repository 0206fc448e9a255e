/** The parts of a deployed mesh: which Workers in which order, who needs which secret, what the learner's queue is like. */
import type { WorkerName } from '../../core/stages.ts';
import type { SECRET_NAMES } from '../../mesh/secrets.ts';

export type Environment = WorkerName;

export type SecretName = (typeof SECRET_NAMES)[number];
export const SECRETS_OF: Readonly<Record<Environment, readonly SecretName[]>> = {
  judge: ['MESH_KEY'],
  rollout: [],
  proposer: [],
  gateway: ['WEBHOOK_SECRET', 'LEARNER_TOKEN'],
};

/** How long a pulled message stays the learner's, and how often it is given out again before it counts as dead. */
export const PULL_CONSUMER = { visibilitySeconds: 600, retries: 10 } as const;

export interface Wanted {
  readonly database: string;
  readonly bucket: string;
  readonly queues: readonly string[];
  /** The queue that the learner pulls: no Worker consumes it. */
  readonly pullQueue: string;
  readonly deadLetters: string;
  /** File names in the order in which they are applied. */
  readonly migrations: readonly string[];
  /** Names of the Workers. */
  readonly workers: Readonly<Record<Environment, string>>;
  /** Entry points of the Workers. */
  readonly mains: Readonly<Record<Environment, string>>;
}
