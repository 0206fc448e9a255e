/** The learner as a process of its own, so that it can be killed and comes back: a crash costs the time since the last publish. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { nodeArguments } from '../mesh/installation.ts';
import { type Mesh, SCORED_QUEUE } from '../mesh/start.ts';

export interface LearnerProcess {
  readonly log: string;
  stop(): Promise<void>;
}

/** Pause before a learner that ended is started again. */
const RESTART_MS = 1_000;

/** Runs the command `learner` against a local mesh and starts it again whenever it ends; its log is `learner.log` in the state folder. */
export function superviseLearner(mesh: Mesh, stateDir: string, args: readonly string[]): LearnerProcess {
  const log = join(stateDir, 'learner.log');
  const sink = createWriteStream(log, { flags: 'a' });
  const env = {
    ...process.env,
    ROLLMESH_URL: mesh.url,
    LEARNER_TOKEN: mesh.secrets.LEARNER_TOKEN,
    MESH_KEY: mesh.secrets.MESH_KEY,
    QUEUE_API_URL: mesh.pullUrl,
    CLOUDFLARE_ACCOUNT_ID: 'local',
    SCORED_QUEUE_ID: SCORED_QUEUE,
    QUEUE_TOKEN: mesh.secrets.LEARNER_TOKEN,
  };
  let stopped = false;
  let child: ChildProcess;
  let restart: NodeJS.Timeout | undefined;
  const start = () => {
    child = spawn(process.execPath, [...nodeArguments('cli/rollmesh'), 'learner', ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout?.pipe(sink, { end: false });
    child.stderr?.pipe(sink, { end: false });
    child.once('exit', () => {
      if (!stopped) restart = setTimeout(start, RESTART_MS);
    });
  };
  start();
  return {
    log,
    stop: async () => {
      stopped = true;
      clearTimeout(restart);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
}
