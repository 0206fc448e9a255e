/**
 * A mesh and a learner as two processes that can be killed, paused and restarted, with a proxy between them: the smallest setup in which
 * crashes are real ones. Addresses stay the same over restarts, as those of a deployed mesh do: they are those of proxies, since a port that
 * a killed mesh had may be another process's by the time that it starts again.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureSecrets, type Secrets } from '../../local/mesh/secrets.ts';
import { type MeshOptions, SCORED_QUEUE } from '../../local/mesh/start.ts';
import { Child } from './child.ts';
import type { KillTarget } from './kill-points.ts';
import { followLog, type LogEvent } from './log-tail.ts';
import { type FaultProxy, forwardAll, type Handler, startProxy } from './proxy.ts';

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

/** The origins at which the mesh listens now. */
interface MeshAddresses {
  gateway: string;
  pull: string;
}

/** In front of the mesh: with faults for the learners, and without for everybody else. */
interface Proxies {
  readonly faulty: FaultProxy;
  readonly plain: FaultProxy;
}

/** Where nothing listens: the address of a mesh that has not started yet. */
const NOWHERE = 'http://127.0.0.1:9';

export class Cluster {
  /** The gateway's address, without any faults. */
  readonly url: string;
  /** The folder of the databases and logs of everything that ran here. */
  readonly stateDir: string;
  readonly secrets: Secrets;
  readonly #options: ClusterOptions;
  readonly #mesh: MeshAddresses;
  readonly #proxies: Proxies;
  readonly #stopLog: () => void;
  #meshProcess: Child | undefined;
  #learners: readonly Child[] = [];
  #meshStarts = 0;

  private constructor(options: ClusterOptions, mesh: MeshAddresses, proxies: Proxies) {
    this.#options = options;
    this.#mesh = mesh;
    this.#proxies = proxies;
    this.stateDir = options.stateDir;
    this.secrets = ensureSecrets(options.root);
    this.url = proxies.plain.url;
    this.#stopLog = followLog(join(options.stateDir, 'mesh.log'), options.onEvent);
  }

  /** Creates the cluster with neither process running: `start` the mesh, then the learner. */
  static async create(options: ClusterOptions): Promise<Cluster> {
    const stateDir = resolve(options.root, options.stateDir);
    mkdirSync(stateDir, { recursive: true });
    const mesh = { gateway: NOWHERE, pull: NOWHERE };
    const proxies = {
      faulty: await startProxy(mesh, options.handler),
      plain: await startProxy(mesh, () => forwardAll),
    };
    return new Cluster({ ...options, stateDir }, mesh, proxies);
  }

  /** Starts the mesh and resolves when it answers, or only launches the learners, which look for the mesh by themselves. */
  async start(which: KillTarget): Promise<void> {
    if (which === 'learner') {
      const { learners = 1 } = this.#options;
      this.#learners = Array.from({ length: learners }, () => this.#startLearner());
    } else {
      const mesh = this.#startMesh();
      this.#meshProcess = mesh;
      const line = await mesh.ready().catch((error: unknown) => {
        if (!mesh.killed) throw error;
      });
      if (!line) return;
      const { url, pullUrl } = JSON.parse(line) as { url: string; pullUrl: string };
      Object.assign(this.#mesh, { gateway: url, pull: new URL(pullUrl).origin });
    }
  }

  /** The process group of the mesh or the first learner; undefined before it was started. */
  groupOf(which: KillTarget): number | undefined {
    return (which === 'mesh' ? this.#meshProcess : this.#learners[0])?.group;
  }

  async kill(which: KillTarget): Promise<void> {
    const children = which === 'mesh' ? [this.#meshProcess] : this.#learners;
    await Promise.all(children.map((child) => child?.kill()));
  }

  /** Pauses the mesh or the first learner, and resolves once it goes on. */
  async pause(which: KillTarget, ms: number): Promise<void> {
    await (which === 'mesh' ? this.#meshProcess : this.#learners[0])?.pause(ms);
  }

  /** Launches learners that have ended again, as a supervisor does. */
  revive(): void {
    this.#learners = this.#learners.map((learner) => (learner.running ? learner : this.#startLearner()));
  }

  async stop(): Promise<void> {
    this.#stopLog();
    await this.kill('learner');
    await this.kill('mesh');
    await Promise.all(Object.values(this.#proxies).map((proxy) => proxy.stop()));
  }

  #startMesh(): Child {
    const { root, stateDir, vars, cronMs, meshOptions } = this.#options;
    const extra = meshOptions?.(this.#meshStarts++);
    const options: MeshOptions = {
      root,
      stateDir,
      cronMs,
      port: 0,
      pullPort: 0,
      rateLimit: 100_000,
      ...extra,
      vars: { ...vars, ...extra?.vars },
    };
    return new Child({
      script: 'test/faults/mesh-process',
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
        ROLLMESH_URL: this.#proxies.faulty.url,
        QUEUE_API_URL: `${this.#proxies.faulty.url}/client/v4`,
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
