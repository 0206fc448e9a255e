/** What the gateway's routes work with: bindings turned into plain arguments. Tests and the deployed Worker differ only here. */
import type { Fetcher, R2Bucket, RateLimit } from '@cloudflare/workers-types';
import type { Registry } from '../../core/recipe/registry.ts';
import type { Reading } from '../../core/schema/work.ts';
import type { StageQueues } from '../shared/messages.ts';
import type { Database } from '../store/database.ts';
import type { RetentionRule } from '../store/retention.ts';
import type { Telemetry } from './telemetry-settings.ts';

export interface Services {
  /** The recipes that may be ordered. */
  readonly recipes: Registry;
  readonly db: Database;
  readonly bucket: R2Bucket;
  readonly queues: StageQueues;
  /** The page's files. */
  readonly assets: Fetcher;
  /** The rollout Worker, which samples for readers; absent where wrangler.toml has no such binding. */
  readonly sampler?: Fetcher | undefined;
  /** Rate limits of signed hooks, and of the routes that need no learner's token. */
  readonly limits: { readonly hooks: RateLimit; readonly reads: RateLimit };
  readonly secrets: {
    /** Undefined where it is not set; routes that need it then refuse. A second value is valid while tokens are rotated. */
    readonly webhook: readonly (string | undefined)[];
    readonly learner: readonly (string | undefined)[];
    /** If none is set, reading needs no token. */
    readonly read: readonly (string | undefined)[];
  };
  /** The address that is notified of ended rounds; absent = none. */
  readonly callback: { readonly url: string; readonly secret: string | undefined } | undefined;
  /** Where traces and metrics are sent; absent = nowhere. */
  readonly telemetry: Telemetry | undefined;
  readonly settings: {
    /** The policy whose version 0 a run begins with if it names none. */
    readonly defaultStartPolicy: string;
    /** How long a round may show no progress before it is driven again, ms. */
    readonly stallMs: number;
    /** Messages queued before this moment (ms since 1970) are lost: a local mesh keeps its queues in memory only. */
    readonly queuesSince: number;
    /** True for a local mesh, where callers reach this Worker directly and not through Cloudflare's edge. */
    readonly local: boolean;
    /** Origins whose pages may call the model endpoints from a browser. */
    readonly pages: readonly string[];
    /** How long a node holds what it leased without a heartbeat, ms. */
    readonly leaseMs: number;
    /** How long an agent's episode may be without a sign of it, ms. */
    readonly episodeMs: number;
    /** The rule by which the clock removes old versions; null = it keeps them all. */
    readonly retention: RetentionRule | null;
  };
  /** Stores a start policy of this name where there is one; absent = a deployed mesh, which has none at hand. */
  readonly bringStart?: ((name: string) => Promise<void>) | undefined;
  readonly now: () => number;
}

/** Hono's types for every route of the gateway. */
export interface GatewayTypes {
  /** `reads`: whose token the request comes with, where it is one of those that read. */
  Variables: { services: Services; reads: Reading | undefined };
}
