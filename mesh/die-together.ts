/**
 * workerd must not outlive the process that started it: an orphan would go on writing to the same state beside its
 * successor. Nothing tells a child that its parent was killed, but the parent's end of a pipe closes: so beside each
 * workerd a small shell waits for that, and kills it.
 */
import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process';

/** Reads until the pipe is closed, then ends process $1. */
const WATCH = 'cat >/dev/null; kill -9 "$1" 2>/dev/null';

function watch(child: ChildProcess, spawn: typeof childProcess.spawn): void {
  if (child.pid === undefined || process.platform === 'win32') return;
  const guard = spawn('sh', ['-c', WATCH, 'sh', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Neither the guard nor its pipe keeps this process alive.
  guard.unref();
  guard.on('error', () => undefined);
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** Runs `start`; every process that it spawns dies with this one, however this one dies. */
export async function withGuardedChildren<T>(start: () => Promise<T>): Promise<T> {
  const { spawn } = childProcess;
  childProcess.spawn = ((command: string, args: readonly string[], options: SpawnOptions) => {
    const child = spawn(command, args, options);
    watch(child, spawn);
    return child;
  }) as typeof spawn;
  try {
    return await start();
  } finally {
    childProcess.spawn = spawn;
  }
}
