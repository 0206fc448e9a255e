/** What the gateway's routes work with: bindings turned into plain arguments. Tests and the deployed Worker differ only here. */
import type { Fetcher, R2Bucket, RateLimit } from '@cloudflare/workers-types';
import type { Registry } from '../../core/registry.ts';
import type { Database } from '../../store/database.ts';
import type { RetentionRule } from '../../store/retention.ts';
import type { StageQueues } from '../shared/messages.ts';

export interface Services {
  /** The recipes that may be ordered. */
  readonly recipes: Registry;
  readonly db: Database;
  readonly bucket: R2Bucket;
  readonly queues: StageQueues;
  /** The page's files. */
  readonly assets: Fetcher;
  /** Of signed hooks, and of everything that needs no learner's token. */
  readonly limits: { readonly hooks: RateLimit; readonly reads: RateLimit };
  readonly secrets: {
    /** Undefined where it is not set: what needs it is closed then. A second value is valid while tokens are rotated. */
    readonly webhook: readonly (string | undefined)[];
    readonly learner: readonly (string | undefined)[];
    /** Where none is set, reading needs no token. */
    readonly read: readonly (string | undefined)[];
  };
  /** Where the end of a round is told; absent = nowhere. */
  readonly callback: { readonly url: string; readonly secret: string | undefined } | undefined;
  readonly settings: {
    /** Policy whose version 0 a run begins with when it names none. */
    readonly defaultStartPolicy: string;
    /** A round without progress for so long is driven again, ms. */
    readonly stallMs: number;
    /** Whatever was queued before this moment is gone (ms since 1970): a local mesh keeps queues in memory only. */
    readonly queuesSince: number;
    /** Nothing stands between the caller and this Worker. */
    readonly local: boolean;
    /** By which the clock removes old versions; null = it keeps them all. */
    readonly retention: RetentionRule | null;
  };
  readonly now: () => number;
}

/** Hono's types for every route of the gateway. */
export interface GatewayTypes {
  Variables: { services: Services };
}
