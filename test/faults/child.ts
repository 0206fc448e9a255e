/** A child process that can be killed at any time. It has its own process group, so that whatever it started is killed at the same moment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { nodeArguments } from '../../local/mesh/installation.ts';

export interface ChildOptions {
  /** A module of the installation by its path without an extension. */
  readonly script: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The file to which its standard error is appended. */
  readonly log: string;
}

/** The process groups that are alive; they are killed when this process exits normally. */
const alive = new Set<number>();
process.once('exit', () => {
  for (const pid of alive) signalGroup(pid);
});

function signalGroup(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The process group is gone already.
  }
}

export class Child {
  readonly #process: ChildProcess;
  readonly #lines: Promise<string>;
  readonly #ended: Promise<void>;
  #killed = false;

  constructor({ script, args, cwd, env, log }: ChildOptions) {
    const child = spawn(process.execPath, [...nodeArguments(script), ...args], {
      cwd,
      env: { ...process.env, ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const sink = createWriteStream(log, { flags: 'a' });
    child.stderr.pipe(sink);
    this.#process = child;
    this.#lines = firstLine(child, script);
    // Callers of `ready` still see the rejection; without one, a child that is killed before it wrote a line is no error.
    this.#lines.catch(() => undefined);
    const { pid } = child;
    if (pid !== undefined) alive.add(pid);
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        if (pid !== undefined) alive.delete(pid);
        resolve();
      });
    });
  }

  /** The child's first line on standard output. Rejects if it ends without one. */
  ready(): Promise<string> {
    return this.#lines;
  }

  /** The process group of the child and whatever it started. */
  get group(): number | undefined {
    return this.#process.pid;
  }

  /** Whether `kill` was called. */
  get killed(): boolean {
    return this.#killed;
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Stops the whole process group for so many ms, as a laptop's sleep does, and lets it go on. */
  async pause(ms: number): Promise<void> {
    const { pid } = this.#process;
    if (pid === undefined) return;
    signalGroup(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, ms));
    signalGroup(pid, 'SIGCONT');
  }

  /** Sends SIGKILL to the whole process group, so that nothing in it can finish its work. */
  async kill(): Promise<void> {
    this.#killed = true;
    const { pid } = this.#process;
    if (pid !== undefined) signalGroup(pid);
    await this.#ended;
  }
}

function firstLine(child: ChildProcess, script: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Uint8Array) => {
      text += new TextDecoder().decode(chunk);
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`${script} ended early: ${signal ?? code}`)));
  });
}
