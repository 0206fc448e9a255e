/** The Workers of wrangler.toml as Miniflare options: `wrangler dev` runs one environment, the mesh needs all four in one process. */
import type { WorkerOptions } from 'miniflare';
import { unstable_getMiniflareWorkerOptions as toMiniflare } from 'wrangler';
import type { WorkerName } from '../core/stages.ts';
import { bundleWorker } from './bundle.ts';
import type { MeshConfig } from './mesh-config.ts';
import { OPTIONAL_NAMES, type Secrets } from './secrets.ts';

/** Which secrets each Worker is given; the others need none. */
const SECRETS_OF: Readonly<Record<WorkerName, readonly (keyof Secrets)[]>> = {
  gateway: ['WEBHOOK_SECRET', 'LEARNER_TOKEN', ...OPTIONAL_NAMES],
  proposer: [],
  rollout: [],
  judge: ['MESH_KEY'],
};

/** Keeps wrangler from reading .dev.vars, which would give every Worker all secrets and print a line for each. */
const NO_DEV_VARS = { overrides: {}, envFiles: ['no-such-file'] };

export interface WorkerSettings {
  readonly config: MeshConfig;
  /** Modules of recipes that are put beside the shipped ones; where there is one, the Workers are made from these instead of their own entry points. */
  readonly recipes: readonly string[];
  readonly secrets: Secrets;
  /** Override variables of wrangler.toml in every Worker. */
  readonly vars: Readonly<Record<string, string>>;
  /** Requests a minute that both rate limits let through; wrangler.toml's where absent. */
  readonly rateLimit: number | undefined;
  /** Deliver at once instead of waiting for a batch to fill. */
  readonly fast: boolean;
  /** Module that is laid around every Worker (see bundle.ts). */
  readonly around: string | undefined;
}

export async function workerOptions(env: WorkerName, settings: WorkerSettings): Promise<WorkerOptions> {
  const config = settings.config.workers[env];
  const { workerOptions: options } = toMiniflare(config, env, NO_DEV_VARS);
  const { modulesRules: _, queueConsumers, ratelimits, bindings, ...rest } = options;
  const { root, modules } = await bundleWorker(
    settings.recipes.length ? { worker: env, recipes: settings.recipes } : settings.config.mains[env],
    settings.around,
  );
  const consumers = (queueConsumers ?? {}) as Consumers;
  const limits = (ratelimits ?? {}) as RateLimits;
  const secrets = Object.fromEntries(
    SECRETS_OF[env].flatMap((name) => {
      const value = settings.secrets[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    ...rest,
    name: config.name!,
    modulesRoot: root,
    modules,
    bindings: { ...bindings, ...secrets, ...settings.vars },
    queueConsumers: settings.fast ? hurried(consumers) : consumers,
    ratelimits: settings.rateLimit === undefined ? limits : widened(limits, settings.rateLimit),
  };
}

/** Wrangler gives consumers as a record by queue; Miniflare's type allows shorter forms too. */
type Consumers = Record<string, { maxBatchSize?: number; maxBatchTimeout?: number }>;
type RateLimits = Record<string, { simple: { limit: number; period: 10 | 60 } }>;

const hurried = (consumers: Consumers): Consumers =>
  Object.fromEntries(
    Object.entries(consumers).map(([queue, options]) => [queue, { ...options, maxBatchTimeout: 0 }]),
  );

const widened = (limits: RateLimits, limit: number): RateLimits =>
  Object.fromEntries(
    Object.entries(limits).map(([name, options]) => [
      name,
      { ...options, simple: { ...options.simple, limit } },
    ]),
  );
