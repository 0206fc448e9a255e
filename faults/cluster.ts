/**
 * A mesh and a learner as two processes that can be killed, paused and restarted, with a proxy between them: the smallest setup in which
 * crashes are real ones. Addresses stay the same over restarts, as those of a deployed mesh do.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureSecrets, type Secrets } from '../mesh/secrets.ts';
import { type MeshOptions, SCORED_QUEUE } from '../mesh/start.ts';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';
import type { KillTarget } from './kill-points.ts';
import { followLog, type LogEvent } from './log-tail.ts';
import { type FaultProxy, type Handler, startProxy } from './proxy.ts';

export interface ClusterOptions {
  /** The folder of wrangler.toml. */
  readonly root: string;
  readonly stateDir: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly cronMs: number;
  readonly learnerArgs: readonly string[];
  /** How many learners pull from the queue; default 1. */
  readonly learners?: number;
  /** The options of the mesh at its n-th start (0, 1, …). */
  readonly meshOptions?: (start: number) => MeshOptions;
  /** The handler that the proxy applies to the learner's requests. */
  readonly handler: () => Handler;
  readonly onEvent: (event: LogEvent) => void;
}

export class Cluster {
  readonly url: string;
  /** The folder of the databases and logs of everything that ran here. */
  readonly stateDir: string;
  readonly secrets: Secrets;
  readonly #options: ClusterOptions;
  readonly #ports: { readonly gateway: number; readonly pull: number };
  readonly #proxy: FaultProxy;
  readonly #stopLog: () => void;
  #mesh: Child | undefined;
  #learners: readonly Child[] = [];
  #meshStarts = 0;

  private constructor(
    options: ClusterOptions,
    ports: { readonly gateway: number; readonly pull: number },
    proxy: FaultProxy,
  ) {
    this.#options = options;
    this.#ports = ports;
    this.#proxy = proxy;
    this.stateDir = options.stateDir;
    this.secrets = ensureSecrets(options.root);
    this.url = `http://127.0.0.1:${ports.gateway}`;
    this.#stopLog = followLog(join(options.stateDir, 'mesh.log'), options.onEvent);
  }

  /** Creates the cluster with neither process running: `start` the mesh, then the learner. */
  static async create(options: ClusterOptions): Promise<Cluster> {
    const stateDir = resolve(options.root, options.stateDir);
    mkdirSync(stateDir, { recursive: true });
    const ports = { gateway: await freePort(), pull: await freePort() };
    const targets = {
      gateway: `http://127.0.0.1:${ports.gateway}`,
      pull: `http://127.0.0.1:${ports.pull}`,
    };
    const proxy = await startProxy(targets, options.handler);
    return new Cluster({ ...options, stateDir }, ports, proxy);
  }

  /** Starts the mesh and resolves when it answers, or only launches the learners, which look for the mesh by themselves. */
  async start(which: KillTarget): Promise<void> {
    if (which === 'learner') {
      const { learners = 1 } = this.#options;
      this.#learners = Array.from({ length: learners }, () => this.#startLearner());
    } else {
      const mesh = this.#startMesh();
      this.#mesh = mesh;
      await mesh.ready().catch((error: unknown) => {
        if (!mesh.killed) throw error;
      });
    }
  }

  /** The process group of the mesh or the first learner; undefined before it was started. */
  groupOf(which: KillTarget): number | undefined {
    return (which === 'mesh' ? this.#mesh : this.#learners[0])?.group;
  }

  async kill(which: KillTarget): Promise<void> {
    const children = which === 'mesh' ? [this.#mesh] : this.#learners;
    await Promise.all(children.map((child) => child?.kill()));
  }

  /** Pauses the mesh or the first learner, and resolves once it goes on. */
  async pause(which: KillTarget, ms: number): Promise<void> {
    await (which === 'mesh' ? this.#mesh : this.#learners[0])?.pause(ms);
  }

  /** Launches learners that have ended again, as a supervisor does. */
  revive(): void {
    this.#learners = this.#learners.map((learner) => (learner.running ? learner : this.#startLearner()));
  }

  async stop(): Promise<void> {
    this.#stopLog();
    await this.kill('learner');
    await this.kill('mesh');
    await this.#proxy.stop();
  }

  #startMesh(): Child {
    const { root, stateDir, vars, cronMs, meshOptions } = this.#options;
    const extra = meshOptions?.(this.#meshStarts++);
    const options: MeshOptions = {
      root,
      stateDir,
      cronMs,
      port: this.#ports.gateway,
      pullPort: this.#ports.pull,
      rateLimit: 100_000,
      ...extra,
      vars: { ...vars, ...extra?.vars },
    };
    return new Child({
      script: 'faults/mesh-process',
      args: [JSON.stringify(options)],
      cwd: root,
      env: {},
      log: join(stateDir, 'mesh-process.log'),
    });
  }

  #startLearner(): Child {
    const { root, stateDir, learnerArgs } = this.#options;
    return new Child({
      script: 'cli/rollmesh',
      args: ['learner', ...learnerArgs],
      cwd: root,
      env: {
        ROLLMESH_URL: this.#proxy.url,
        QUEUE_API_URL: `${this.#proxy.url}/client/v4`,
        LEARNER_TOKEN: this.secrets.LEARNER_TOKEN,
        MESH_KEY: this.secrets.MESH_KEY,
        CLOUDFLARE_ACCOUNT_ID: 'local',
        SCORED_QUEUE_ID: SCORED_QUEUE,
        QUEUE_TOKEN: this.secrets.LEARNER_TOKEN,
      },
      log: join(stateDir, 'learner.log'),
    });
  }
}
