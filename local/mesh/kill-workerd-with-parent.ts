/**
 * Kills workerd when the process that started it ends. An orphaned workerd would go on writing to the same state beside its
 * successor. A child is not told that its parent was killed, but the parent's end of a pipe closes. So a small shell beside
 * each workerd waits for that, and then kills it.
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
  // The guard must not keep this process alive.
  guard.unref();
  guard.on('error', () => undefined);
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** Runs `start`. Every process that it spawns is killed when this process ends, however it ends. */
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
