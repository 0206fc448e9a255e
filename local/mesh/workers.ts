/** Turns the Workers of wrangler.toml into Miniflare options. `wrangler dev` runs one environment; the mesh needs all of them in one process. */
import type { WorkerOptions } from 'miniflare';
import { agentsToken } from '../../core/net/agent-token.ts';
import { ENVIRONMENT_WORKER, WORKER_NAMES, type WorkerName } from '../../core/round/stages.ts';
import { type BundledWorker, bundleWorkers } from './bundle.ts';
import { environmentUrl, type MeshConfig } from './mesh-config.ts';
import { withOnnxOnDemand } from './onnx-on-demand.ts';
import { OPTIONAL_NAMES, type Secrets } from './secrets.ts';

/** The secrets that each Worker is given. */
const SECRETS_OF: Readonly<Record<WorkerName, readonly (keyof Secrets | 'AGENTS_TOKEN')[]>> = {
  gateway: ['WEBHOOK_SECRET', 'LEARNER_TOKEN', ...OPTIONAL_NAMES],
  proposer: [],
  rollout: [],
  judge: ['MESH_KEY', 'REWARD_SECRET'],
  environment: ['AGENTS_TOKEN', 'ORS_API_KEY'],
};

export interface WorkerSettings {
  readonly config: MeshConfig;
  /** Files of recipe modules to add to the shipped ones. If there are any, the Workers' entry points are generated (see bundle.ts). */
  readonly recipes: readonly string[];
  readonly secrets: Secrets;
  /** Values that override variables of wrangler.toml in every Worker. */
  readonly vars: Readonly<Record<string, string>>;
  /** The requests a minute that both rate limits let through; if undefined, wrangler.toml's limits hold. */
  readonly rateLimit: number | undefined;
  /** Deliver messages at once instead of waiting for a batch to fill. */
  readonly fast: boolean;
  /** The file of a module that wraps every Worker (see bundle.ts). */
  readonly around: string | undefined;
}

/** The options of every Worker, in the order of their names: of the environment Worker where the mesh plays an environment. */
export async function workerOptions(settings: WorkerSettings): Promise<WorkerOptions[]> {
  const { config, recipes, around, vars } = settings;
  const names = [
    ...WORKER_NAMES,
    ...(environmentUrl(config, vars) ? [ENVIRONMENT_WORKER as WorkerName] : []),
  ];
  const mains = names.map((worker) =>
    // The environment Worker knows no recipe.
    recipes.length && worker !== ENVIRONMENT_WORKER ? { worker, recipes } : config.mains[worker]!,
  );
  const bundles = await bundleWorkers(mains, around);
  return names.map((worker, i) => optionsOf(worker, bundles[i]!, settings));
}

function optionsOf(env: WorkerName, bundle: BundledWorker, settings: WorkerSettings): WorkerOptions {
  const { config } = settings;
  const { queueConsumers, ratelimits, bindings, serviceBindings, ...rest } = config.options[env]!;
  const { serviceBindings: more, ...modules } = withOnnxOnDemand(bundle);
  const consumers = (queueConsumers ?? {}) as Consumers;
  const limits = (ratelimits ?? {}) as RateLimits;
  const known = { ...settings.secrets, AGENTS_TOKEN: agentsToken(settings.secrets.LEARNER_TOKEN) };
  const secrets = Object.fromEntries(
    SECRETS_OF[env].flatMap((name) => {
      const value = known[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    ...rest,
    name: config.workers[env]!.name!,
    ...modules,
    serviceBindings: { ...serviceBindings, ...more },
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
