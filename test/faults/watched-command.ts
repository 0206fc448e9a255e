/** A command of the command line as a process, watched as a person at its terminal would: what it says, and how long it says nothing. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { nodeArguments } from '../../local/mesh/installation.ts';

export interface Watched {
  /** Exit status; null where it was killed. */
  readonly code: number | null;
  /** Whether it was killed because it ran too long. */
  readonly endless: boolean;
  /** The lines of standard output and standard error, in the order in which they came. */
  readonly lines: readonly string[];
  /** The longest time between two lines, ms; start and end count as lines. */
  readonly silenceMs: number;
  readonly wallMs: number;
}

export interface Running {
  readonly ended: Promise<Watched>;
  /** Ends it and everything that it started, at once. */
  kill(): void;
}

export function watchCommand(args: readonly string[], limitMs: number): Running {
  const began = performance.now();
  let last = began;
  let silenceMs = 0;
  let endless = false;
  const lines: string[] = [];
  // A process group of its own, so that it dies together with its learner and its workerd.
  const child = spawn(process.execPath, [...nodeArguments('cli/rollmesh'), ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const heard = () => {
    silenceMs = Math.max(silenceMs, performance.now() - last);
    last = performance.now();
  };
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      heard();
      lines.push(line);
    });
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The process group is gone already.
    }
  };
  const timer = setTimeout(() => {
    endless = true;
    kill();
  }, limitMs);
  const ended = new Promise<Watched>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      heard();
      resolve({
        code,
        endless,
        lines,
        silenceMs: Math.round(silenceMs),
        wallMs: Math.round(performance.now() - began),
      });
    });
  });
  return { ended, kill };
}
