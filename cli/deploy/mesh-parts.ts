/** The parts of a deployed mesh: which Workers in which order, who needs which secret, what the learner's queue is like. */
import type { SECRET_NAMES } from '../../mesh/secrets.ts';

/**
 * Consumers before producers, so that nobody ever sends what the next stage cannot read yet. The gateway is last: it sends to
 * every queue when it drives a stalled round again, and on a first deployment it is the door, which opens when all is there.
 */
export const DEPLOY_ORDER = ['judge', 'rollout', 'proposer', 'gateway'] as const;
export type Environment = (typeof DEPLOY_ORDER)[number];

export type SecretName = (typeof SECRET_NAMES)[number];
export const SECRETS_OF: Readonly<Record<Environment, readonly SecretName[]>> = {
  judge: ['MESH_KEY'],
  rollout: [],
  proposer: [],
  gateway: ['WEBHOOK_SECRET', 'LEARNER_TOKEN', 'MESH_KEY'],
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
