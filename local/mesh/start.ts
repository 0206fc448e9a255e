/**
 * Starts the local mesh: every Worker of wrangler.toml in one Miniflare, the stand-in for the pull API on a port of its own, and
 * the clock. All state is in one folder. The queues are in memory only, so rounds are re-driven after a restart.
 */
import { createWriteStream, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { Miniflare, type MiniflareOptions, type Request, Response, type WorkerOptions } from 'miniflare';
import { originsOf } from '../../core/net/cross-origin.ts';
import { OPEN_ROUNDS, PULLED_QUEUE } from '../../core/round/stages.ts';
import { bundleWorker } from './bundle.ts';
import { CONTROL, openControl } from './control.ts';
import { withRoomyBuffers } from './faster-miniflare-start.ts';
import { installed, moduleFile } from './installation.ts';
import { readMeshConfig } from './mesh-config.ts';
import { migrate } from './migrate.ts';
import { openPrivateSockets } from './private-sockets.ts';
import { ensureSecrets, type Secrets } from './secrets.ts';
import { refuseDamaged } from './sqlite-files.ts';
import { ensureTabPages } from './tab-pages.ts';
import { installV8Flags } from './v8-flags.ts';
import { workerOptions } from './workers.ts';

const GATEWAY = 'rollmesh-gateway';
const PULL_QUEUE = 'rollmesh-pull-queue';
const LOOPBACK = '127.0.0.1';
/** The queue that the learner pulls from; locally its name is its id. */
export const SCORED_QUEUE = PULLED_QUEUE;

export interface MeshOptions {
  /** The folder of all local state; default `.rollmesh`. */
  readonly stateDir?: string;
  /** The folder of .dev.vars and, if it has one, of wrangler.toml; default: the working directory. */
  readonly root?: string;
  readonly host?: string;
  /** The origin by which a proxy in front is reached from outside, such as https://mesh.example.org. Reading needs a READ_TOKEN then. */
  readonly outside?: string;
  /** The gateway's port; 0 means any free port. */
  readonly port?: number;
  readonly pullPort?: number;
  /** Values that override variables of wrangler.toml. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Secrets that override those of .dev.vars. */
  readonly secrets?: Partial<Secrets>;
  /** Deliver messages at once instead of waiting for batches to fill. Default true, because locally nothing else would fill a batch. */
  readonly fast?: boolean;
  /** Milliseconds between two ticks of the clock; 0 means that it ticks only when `cron()` is called. Default 15 s. */
  readonly cronMs?: number;
  /** The number of deliveries of a scored message before it becomes a dead letter. Default 11, as docs/deploy.md sets it up. */
  readonly pullDeliveries?: number;
  readonly rateLimit?: number;
  /** The files of recipe modules whose recipes the Workers play beside the shipped ones. */
  readonly recipes?: readonly string[];
  /** Stores a start policy of this name, where there is one: called when it is first asked for. */
  readonly bringStart?: (name: string) => Promise<void>;
  /** Pauses the runs that an earlier process left unfinished, so that only those go on that somebody asks for. Default false. */
  readonly pause?: boolean;
  /** The file of a module that wraps every Worker, in order to inject faults (see test/faults/). */
  readonly around?: string;
}

export interface Mesh {
  /** The URL of the gateway and the page. */
  readonly url: string;
  /** The base URL of the pull API, the local counterpart of https://api.cloudflare.com/client/v4. */
  readonly pullUrl: string;
  readonly secrets: Secrets;
  readonly mf: Miniflare;
  /** Runs one tick of the clock. */
  cron(): Promise<void>;
  /**
   * Resolves once workerd has ended by itself and Miniflare has started another one at the same ports. The messages of the queues are lost,
   * and since the Workers are not told of the restart, their rounds would make no progress until they count as stalled.
   */
  readonly crashed: Promise<void>;
  stop(): Promise<void>;
}

async function pullQueueOptions(secrets: Secrets, options: MeshOptions): Promise<WorkerOptions> {
  const bundle = await bundleWorker(moduleFile('local/mesh/pull-queue.worker'));
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

/** The gateway with a binding by which it asks this process for a start policy. */
const withStarts = (
  gateway: WorkerOptions,
  bring: NonNullable<MeshOptions['bringStart']>,
): WorkerOptions => ({
  ...gateway,
  serviceBindings: {
    ...gateway.serviceBindings,
    STARTS: async (request: Request) => {
      await bring(decodeURIComponent(new URL(request.url).pathname.slice(1)));
      return new Response(null, { status: 204 });
    },
  },
});

/** On one line, as the database's `exec` takes it. */
const PAUSE_ALL = `UPDATE runs SET state = 'paused' WHERE state = 'open' AND deleted_at IS NULL AND (target > (SELECT coalesce(max(idx), 0) FROM rounds WHERE run = runs.id) OR EXISTS (SELECT 1 FROM rounds WHERE run = runs.id AND state IN (${OPEN_ROUNDS.map((state) => `'${state}'`).join(', ')})))`;

const doorOf = (worker: string) => `${worker}-door`;

/** The options of the Worker in front of another one at a port of this machine; see local/mesh/access-check.worker.ts. */
async function doorOptions(
  worker: string,
  pages: readonly string[],
  host: string = LOOPBACK,
  port: number = 0,
  outside: string = '',
): Promise<WorkerOptions> {
  const bundle = await bundleWorker(moduleFile('local/mesh/access-check.worker'));
  return {
    name: doorOf(worker),
    compatibilityDate: '2026-04-01',
    modulesRoot: bundle.root,
    modules: bundle.modules,
    bindings: {
      HOSTS: [...new Set([LOOPBACK, 'localhost', '[::1]', host])],
      PAGES: [...pages],
      OUTSIDE: outside,
    },
    serviceBindings: { INNER: worker },
    unsafeDirectSockets: [{ host, port }],
  };
}

/** Appends what the Workers print to a log file (`mesh.log`) and keeps it off the terminal. */
function logTo(file: string) {
  const log = createWriteStream(file, { flags: 'a' });
  return (stdout: Readable, stderr: Readable) => {
    for (const stream of [stdout, stderr]) stream.on('data', (chunk: Uint8Array) => log.write(chunk));
  };
}

export async function startMesh(options: MeshOptions = {}): Promise<Mesh> {
  const root = resolve(options.root ?? '.');
  const config = await readMeshConfig(root);
  const stateDir = resolve(root, options.stateDir ?? '.rollmesh');
  mkdirSync(stateDir, { recursive: true });
  await refuseDamaged(stateDir);
  const secrets = { ...ensureSecrets(root), ...options.secrets };
  const settings = {
    config,
    recipes: options.recipes ?? [],
    secrets,
    vars: { QUEUES_SINCE: String(Date.now()), ...options.vars },
    rateLimit: options.rateLimit,
    fast: options.fast ?? true,
    around: options.around,
  };
  const pages = originsOf(options.vars?.CORS_ORIGINS ?? secrets.CORS_ORIGINS);
  const [own, , ...others] = await Promise.all([
    workerOptions(settings),
    ensureTabPages(),
    pullQueueOptions(secrets, options),
    doorOptions(GATEWAY, pages, options.host, options.port, options.outside),
    doorOptions(PULL_QUEUE, [], options.host, options.pullPort),
    doorOptions(CONTROL, []),
  ]);
  const { bringStart } = options;
  if (bringStart) own[0] = withStarts(own[0]!, bringStart);
  const control = await openControl(own[0]!, () => mf.unsafeGetDirectURL(doorOf(CONTROL)));
  const { mf, crashed, close } = await startMiniflare({
    // `wrangler … --local --persist-to STATE_DIR` uses the same folder.
    defaultPersistRoot: join(stateDir, 'v3'),
    cf: false,
    handleRuntimeStdio: logTo(join(stateDir, 'mesh.log')),
    workers: [...own, ...others, control.options],
  });
  const url = (await mf.unsafeGetDirectURL(doorOf(GATEWAY))).origin;
  const pullUrl = `${(await mf.unsafeGetDirectURL(doorOf(PULL_QUEUE))).origin}/client/v4`;
  await migrate(control, installed('migrations'));
  // Before the clock, which would go on with them.
  if (options.pause) await control.exec(PAUSE_ALL);
  const stopClock = startClock(control.tick, options.cronMs ?? 15_000);
  return {
    url,
    pullUrl,
    secrets,
    mf,
    cron: control.tick,
    crashed,
    stop: async () => {
      stopClock();
      await close();
    },
  };
}

/** Starts Miniflare with the changes that v8-flags.ts, private-sockets.ts and faster-miniflare-start.ts explain. */
export async function startMiniflare(options: MiniflareOptions) {
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

/** Ticks once at the start, to resume what an earlier process left, then at the interval. The next tick makes up for one that fails. */
function startClock(tick: () => Promise<void>, everyMs: number): () => void {
  if (everyMs === 0) return () => {};
  const attempt = () => tick().catch(() => undefined);
  void attempt();
  const timer = setInterval(attempt, everyMs);
  return () => clearInterval(timer);
}
