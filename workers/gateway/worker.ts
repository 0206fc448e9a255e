/** The gateway Worker: HTTP, the clock, and the dead-letter queue. This file only connects its bindings. */
import { originsOf } from '../../core/net/cross-origin.ts';
import { type Registry, registry } from '../../core/recipe/registry.ts';
import { hostedFamilies } from '../../worlds/hosted/families.ts';
import { MAX_DELIVERIES } from '../shared/consume.ts';
import type { StageQueue } from '../shared/messages.ts';
import { meteredD1, meteredQueue, meteredR2 } from '../shared/metered-bindings.ts';
import type { WorkerOptions } from '../shared/stage-worker.ts';
import { openDatabase } from '../store/database.ts';
import { gatewayApp } from './app.ts';
import { tellEnds } from './callback.ts';
import { storeDead } from './dead-letter-queue.ts';
import { retentionOf } from './prune.ts';
import { reconcile } from './reconcile.ts';
import type { Services } from './services.ts';
import { sendTelemetry } from './telemetry.ts';
import { telemetryOf } from './telemetry-settings.ts';

export interface GatewayEnv {
  readonly DB: D1Database;
  readonly BUCKET: R2Bucket;
  readonly PROPOSE: StageQueue<'propose'>;
  readonly ROLLOUT: StageQueue<'rollout'>;
  readonly JUDGE: StageQueue<'judge'>;
  readonly SCORED: StageQueue<'scored'>;
  readonly ASSETS: Fetcher;
  /** The rollout Worker. */
  readonly SAMPLER?: Fetcher;
  /** Stores a start policy by its name. Only the local mesh has it. */
  readonly STARTS?: Fetcher;
  readonly HOOK_LIMIT: RateLimit;
  readonly READ_LIMIT: RateLimit;
  readonly DEFAULT_START_POLICY: string;
  readonly STALL_SECONDS: string;
  readonly KEEP_VERSIONS: string;
  readonly KEEP_WITHDRAWN_DAYS: string;
  /** Seconds that a node holds what it leased without a heartbeat; absent = 30. */
  readonly LEASE_SECONDS?: string;
  /** Seconds that an episode of an agent may be without a sign of it; absent = 600. */
  readonly EPISODE_SECONDS?: string;
  /** Only the local mesh sets it. */
  readonly QUEUES_SINCE?: string;
  readonly WEBHOOK_SECRET?: string;
  readonly WEBHOOK_SECRET_NEXT?: string;
  readonly LEARNER_TOKEN?: string;
  readonly LEARNER_TOKEN_NEXT?: string;
  readonly READ_TOKEN?: string;
  readonly READ_TOKEN_NEXT?: string;
  /** Origins whose pages may call the model endpoints, separated by commas. */
  readonly CORS_ORIGINS?: string;
  readonly CALLBACK_URL?: string;
  readonly CALLBACK_SECRET?: string;
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  readonly OTEL_EXPORTER_OTLP_HEADERS?: string;
}

const servicesOf = (env: GatewayEnv, recipes: Registry): Services => ({
  recipes,
  db: openDatabase(meteredD1(env.DB)),
  bucket: meteredR2(env.BUCKET),
  queues: {
    propose: meteredQueue(env.PROPOSE),
    rollout: meteredQueue(env.ROLLOUT),
    judge: meteredQueue(env.JUDGE),
    scored: meteredQueue(env.SCORED),
  },
  assets: env.ASSETS,
  sampler: env.SAMPLER,
  limits: { hooks: env.HOOK_LIMIT, reads: env.READ_LIMIT },
  secrets: {
    webhook: [env.WEBHOOK_SECRET, env.WEBHOOK_SECRET_NEXT],
    learner: [env.LEARNER_TOKEN, env.LEARNER_TOKEN_NEXT],
    read: [env.READ_TOKEN, env.READ_TOKEN_NEXT],
  },
  callback: env.CALLBACK_URL ? { url: env.CALLBACK_URL, secret: env.CALLBACK_SECRET } : undefined,
  telemetry: telemetryOf(env.OTEL_EXPORTER_OTLP_ENDPOINT, env.OTEL_EXPORTER_OTLP_HEADERS),
  settings: {
    defaultStartPolicy: env.DEFAULT_START_POLICY,
    stallMs: Number(env.STALL_SECONDS) * 1000,
    queuesSince: Number(env.QUEUES_SINCE ?? 0),
    local: env.QUEUES_SINCE !== undefined,
    pages: originsOf(env.CORS_ORIGINS),
    leaseMs: Number(env.LEASE_SECONDS ?? 30) * 1000,
    episodeMs: Number(env.EPISODE_SECONDS ?? 600) * 1000,
    retention: retentionOf(env.KEEP_VERSIONS, env.KEEP_WITHDRAWN_DAYS),
  },
  bringStart:
    env.STARTS &&
    (async (name) => {
      await env.STARTS!.fetch(`http://starts/${encodeURIComponent(name)}`);
    }),
  now: () => Date.now(),
});

/** Makes the gateway Worker for these recipes. Throws `wrong-input` where two of them have the same name. */
export function gatewayWorker(options: WorkerOptions): ExportedHandler<GatewayEnv> {
  const recipes = registry(options.recipes, hostedFamilies);
  // One app per isolate, since bindings do not change while it lives.
  let app: ReturnType<typeof gatewayApp> | undefined;
  return {
    fetch(request, env, context) {
      app ??= gatewayApp(servicesOf(env, recipes));
      return app.fetch(request, env, context);
    },
    async queue(batch, env) {
      await storeDead(openDatabase(env.DB), batch.messages, MAX_DELIVERIES, Date.now());
    },
    async scheduled(_, env) {
      const services = servicesOf(env, recipes);
      await reconcile(services);
      await tellEnds(services);
      await sendTelemetry(services);
    },
  };
}
