/**
 * The local mesh: every Worker of wrangler.toml in one Miniflare, the stand-in for the pull API on a port of its own, and
 * the clock. All state lies under one folder; what only memory held (the queues) is driven again after a restart.
 */
import { createWriteStream, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { Miniflare, type MiniflareOptions, type WorkerOptions } from 'miniflare';
import { PULLED_QUEUE, WORKER_NAMES } from '../core/stages.ts';
import { bundleWorker } from './bundle.ts';
import { installed, moduleFile } from './installation.ts';
import { readMeshConfig } from './mesh-config.ts';
import { migrate } from './migrate.ts';
import { openPrivateSockets } from './private-sockets.ts';
import { withRoomyBuffers } from './roomy-buffers.ts';
import { ensureSecrets, type Secrets } from './secrets.ts';
import { installV8Flags } from './v8-flags.ts';
import { workerOptions } from './workers.ts';

const GATEWAY = 'rollmesh-gateway';
const PULL_QUEUE = 'rollmesh-pull-queue';
const LOOPBACK = '127.0.0.1';
/** The queue that the learner pulls; locally its name is its id. */
export const SCORED_QUEUE = PULLED_QUEUE;

export interface MeshOptions {
  /** Folder of all local state. Default `.rollmesh`. */
  readonly stateDir?: string;
  /** Folder of .dev.vars and, where it has one, of wrangler.toml. Default: the working directory. */
  readonly root?: string;
  readonly host?: string;
  /** 0 = any free port. */
  readonly port?: number;
  readonly pullPort?: number;
  /** Override variables of wrangler.toml. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Deliver messages at once instead of waiting for batches to fill. Default true: locally there is nobody to share a batch with. */
  readonly fast?: boolean;
  /** Milliseconds between two ticks of the clock; 0 = only when `cron()` is called. Default 15 s. */
  readonly cronMs?: number;
  /** Deliveries of a scored message before it is a dead letter. Default 11, as docs/deploy.md sets it up. */
  readonly pullDeliveries?: number;
  readonly rateLimit?: number;
  /** Files of recipe modules whose recipes the Workers play beside the shipped ones. */
  readonly recipes?: readonly string[];
  /** File of a module that is laid around every Worker: for faults on purpose (see faults). */
  readonly around?: string;
}

export interface Mesh {
  /** Of the gateway and the page. */
  readonly url: string;
  /** Base of the pull API: the local counterpart of https://api.cloudflare.com/client/v4. */
  readonly pullUrl: string;
  readonly secrets: Secrets;
  readonly mf: Miniflare;
  /** One tick of the clock. */
  cron(): Promise<void>;
  /**
   * Resolves once workerd has ended by itself and Miniflare has started another one at the same ports. What the queues held is gone,
   * and since the Workers know of no new start, their rounds would stand still until they count as stalled.
   */
  readonly crashed: Promise<void>;
  stop(): Promise<void>;
}

async function pullQueueOptions(secrets: Secrets, options: MeshOptions): Promise<WorkerOptions> {
  const bundle = await bundleWorker(moduleFile('mesh/pull-queue.worker'));
  return {
    name: PULL_QUEUE,
    compatibilityDate: '2026-04-01',
    modulesRoot: bundle.root,
    modules: bundle.modules,
    bindings: { QUEUES_TOKEN: secrets.LEARNER_TOKEN, MAX_DELIVERIES: String(options.pullDeliveries ?? 11) },
    durableObjects: { PULL: { className: 'PullQueue', useSQLite: true } },
    queueProducers: { DLQ: 'rollmesh-dlq' },
    queueConsumers: { [SCORED_QUEUE]: { maxBatchSize: 100, maxBatchTimeout: 0 } },
  };
}

const doorOf = (worker: string) => `${worker}-door`;

/** The Worker that stands before another at a port of this machine: see mesh/door.worker.ts. */
async function doorOptions(
  worker: string,
  host: string = LOOPBACK,
  port: number = 0,
): Promise<WorkerOptions> {
  const bundle = await bundleWorker(moduleFile('mesh/door.worker'));
  return {
    name: doorOf(worker),
    compatibilityDate: '2026-04-01',
    modulesRoot: bundle.root,
    modules: bundle.modules,
    bindings: { HOSTS: [...new Set([LOOPBACK, 'localhost', '[::1]', host])] },
    serviceBindings: { INNER: worker },
    unsafeDirectSockets: [{ host, port }],
  };
}

/** Appends what the Workers print to `mesh.log`, so that it is at hand and in nobody's way. */
function logTo(file: string) {
  const log = createWriteStream(file, { flags: 'a' });
  return (stdout: Readable, stderr: Readable) => {
    for (const stream of [stdout, stderr]) stream.on('data', (chunk: Uint8Array) => log.write(chunk));
  };
}

export async function startMesh(options: MeshOptions = {}): Promise<Mesh> {
  const root = resolve(options.root ?? '.');
  const config = readMeshConfig(root);
  const stateDir = resolve(root, options.stateDir ?? '.rollmesh');
  mkdirSync(stateDir, { recursive: true });
  const secrets = ensureSecrets(root);
  const settings = {
    config,
    recipes: options.recipes ?? [],
    secrets,
    vars: { QUEUES_SINCE: String(Date.now()), ...options.vars },
    rateLimit: options.rateLimit,
    fast: options.fast ?? true,
    around: options.around,
  };
  const workers = await Promise.all([
    ...WORKER_NAMES.map((env) => workerOptions(env, settings)),
    pullQueueOptions(secrets, options),
    doorOptions(GATEWAY, options.host, options.port),
    doorOptions(PULL_QUEUE, options.host, options.pullPort),
  ]);
  const { mf, crashed, close } = await startMiniflare({
    // The place where `wrangler … --local --persist-to STATE_DIR` looks as well.
    defaultPersistRoot: join(stateDir, 'v3'),
    cf: false,
    handleRuntimeStdio: logTo(join(stateDir, 'mesh.log')),
    workers,
  });
  const url = (await mf.unsafeGetDirectURL(doorOf(GATEWAY))).origin;
  const pullUrl = `${(await mf.unsafeGetDirectURL(doorOf(PULL_QUEUE))).origin}/client/v4`;
  await migrate(mf, GATEWAY, installed('migrations'));
  const gateway = await mf.getWorker(GATEWAY);
  const cron = async () => {
    await gateway.scheduled({ cron: '* * * * *' });
  };
  const stopClock = startClock(cron, options.cronMs ?? 15_000);
  return {
    url,
    pullUrl,
    secrets,
    mf,
    cron,
    crashed,
    stop: async () => {
      stopClock();
      await close();
    },
  };
}

/** Miniflare as it has to be started here: v8-flags.ts, private-sockets.ts and roomy-buffers.ts say why. */
async function startMiniflare(options: MiniflareOptions) {
  installV8Flags();
  const sockets = await openPrivateSockets();
  let crash = () => {};
  const crashed = new Promise<void>((resolve) => {
    crash = resolve;
  });
  const mf = await sockets.within(() =>
    withRoomyBuffers(async () => {
      const started = new Miniflare({ ...options, unsafeHandleRuntimeRestart: crash });
      await started.ready;
      return started;
    }),
  );
  const close = async () => {
    await mf.dispose();
    await sockets.close();
  };
  return { mf, crashed, close };
}

/** Ticks once at the start, for what an earlier process left, then at the interval. A tick that fails is made up by the next. */
function startClock(tick: () => Promise<void>, everyMs: number): () => void {
  if (everyMs === 0) return () => {};
  const attempt = () => tick().catch(() => undefined);
  void attempt();
  const timer = setInterval(attempt, everyMs);
  return () => clearInterval(timer);
}
