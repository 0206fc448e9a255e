/** A process that is there to be killed: in a group of its own, so that whatever it started dies in the same moment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { nodeArguments } from '../mesh/installation.ts';

export interface ChildOptions {
  /** A module of the installation by its path without an extension. */
  readonly script: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What it writes to standard error is appended to this file. */
  readonly log: string;
}

/** Groups that are alive, so that none outlives this process when it ends in good order. */
const alive = new Set<number>();
process.once('exit', () => {
  for (const pid of alive) signalGroup(pid);
});

function signalGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone already.
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
    // Whoever waits for the line is told; a child that is killed before it wrote one is no error.
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

  /** Its first line on standard output. Rejects where it ends without one. */
  ready(): Promise<string> {
    return this.#lines;
  }

  /** Process group of it and whatever it started. */
  get group(): number | undefined {
    return this.#process.pid;
  }

  /** It was killed by us, or is about to be. */
  get killed(): boolean {
    return this.#killed;
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** SIGKILL to all of its group: nothing in it gets to finish anything. */
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
