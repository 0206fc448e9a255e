/** Runs the learner as a process of its own and restarts it when it ends: a crash costs only the time since the last publish. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { nodeArguments } from '../../local/mesh/installation.ts';
import { type Mesh, SCORED_QUEUE } from '../../local/mesh/start.ts';
import { type LearnerNews, LearnerWatch } from '../learner-watch.ts';

export interface LearnerProcess {
  readonly log: string;
  /** Rejects with the reason if the learner is given up; else it never settles. */
  readonly givenUp: Promise<never>;
  stop(): Promise<void>;
}

export interface Supervision {
  /** Called with messages that a person should read. */
  readonly notice?: (text: string) => void;
  /** After it aborts, the learner's end is expected. */
  readonly signal?: AbortSignal;
}

/** The pause before a learner that ended is started again, ms. */
const RESTART_MS = 1_000;
const RELEASE_MS = 5_000;

/**
 * Releases the messages that a dead learner had pulled: without this they would be delivered again only when its leases run out, minutes
 * later. If the release fails, only that time is lost.
 */
async function releaseLeases({ pullUrl, secrets }: Mesh): Promise<void> {
  await fetch(`${pullUrl}/accounts/local/queues/${SCORED_QUEUE}/messages/release`, {
    method: 'POST',
    body: '{}',
    headers: { authorization: `Bearer ${secrets.LEARNER_TOKEN}`, connection: 'close' },
    signal: AbortSignal.timeout(RELEASE_MS),
  }).catch(() => undefined);
}

/** What the learner needs to know of a local mesh. */
const environmentOf = ({ url, pullUrl, secrets }: Mesh): Readonly<Record<string, string>> => ({
  ROLLMESH_URL: url,
  LEARNER_TOKEN: secrets.LEARNER_TOKEN,
  MESH_KEY: secrets.MESH_KEY,
  QUEUE_API_URL: pullUrl,
  CLOUDFLARE_ACCOUNT_ID: 'local',
  SCORED_QUEUE_ID: SCORED_QUEUE,
  QUEUE_TOKEN: secrets.LEARNER_TOKEN,
});

/**
 * What glibc's allocator reads: large blocks go back to the system when they are freed, and all threads share two arenas. Eight rounds of the flagship
 * take as much processor time with it, and 0.8 GB at most in place of 1.0.
 */
const GIVES_BACK = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: `${1 << 20}`,
  MALLOC_TRIM_THRESHOLD_: `${16 << 20}`,
};

/**
 * Runs the command `learner` against a local mesh and starts it again when it ends; its log is `learner.log` in the state folder. The mesh may still
 * be starting: the learner loads its modules meanwhile.
 */
export function superviseLearner(
  starting: Mesh | Promise<Mesh>,
  stateDir: string,
  args: readonly string[],
  { notice = () => {}, signal }: Supervision = {},
): LearnerProcess {
  const log = join(stateDir, 'learner.log');
  const sink = createWriteStream(log, { flags: 'a' });
  sink.on('error', (error) => notice(`the learner's log cannot be written: ${error.message}`));
  const watch = new LearnerWatch(log);
  let stopped = false;
  let child: ChildProcess | undefined;
  let restart: NodeJS.Timeout | undefined;
  let giveUp: (reason: Error) => void = () => {};
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  // Callers that wait for it get the error; if none waits, the error is still in the log.
  givenUp.catch(() => undefined);

  const hear = ({ notice: words, fatal }: LearnerNews) => {
    if (words) notice(words);
    if (!fatal) return;
    stopped = true;
    child?.kill('SIGTERM');
    giveUp(fatal);
  };
  const start = async () => {
    const started = spawn(
      process.execPath,
      [...nodeArguments('cli/rollmesh'), 'learner', '--told-by-parent', ...args],
      { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...GIVES_BACK, ...process.env } },
    );
    child = started;
    started.stdout!.pipe(sink, { end: false });
    started.stderr!.pipe(sink, { end: false });
    createInterface({ input: started.stderr! }).on('line', (line) => stopped || hear(watch.line(line)));
    // Not 'exit', which may come before the last lines of its output.
    started.once('close', (code, killedBy) => {
      if (stopped || signal?.aborted) return;
      hear(watch.ended(code, killedBy));
      if (!stopped) restart = setTimeout(start, RESTART_MS);
    });
    const mesh = await starting;
    await releaseLeases(mesh);
    if (started.connected && !stopped) started.send(environmentOf(mesh), () => {});
  };
  // Whoever started the mesh is told why it did not start.
  void start().catch(() => undefined);
  return {
    log,
    givenUp,
    stop: async () => {
      stopped = true;
      clearTimeout(restart);
      const last = child;
      if (!last || last.exitCode !== null || last.signalCode !== null) return;
      const ended = new Promise((resolve) => last.once('exit', resolve));
      last.kill('SIGTERM');
      const timer = setTimeout(() => last.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
}
