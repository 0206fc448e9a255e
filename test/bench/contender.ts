/** A resident process that takes one turn for each line sent to it and answers with a line of JSON, so that benchmarks can interleave. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { cpuMs } from './processes.ts';

export interface ContenderSpec {
  name: string;
  command: string;
  args: readonly string[];
  env?: Record<string, string>;
}

export class Contender {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;

  private constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
    this.#reader = createInterface({ input: child.stdout! });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  /** Starts the process and waits for its first line. Throws with its exit code if it ends before. */
  static async start({
    name,
    command,
    args,
    env,
  }: ContenderSpec): Promise<{ contender: Contender; first: unknown }> {
    const child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    });
    await once(child, 'spawn');
    const contender = new Contender(name, child);
    return { contender, first: await contender.#next() };
  }

  /** The CPU time of the process so far, milliseconds; the wall clock where the system does not tell. */
  cpuNow(): number {
    return cpuMs(this.#child.pid!) ?? performance.now();
  }

  /** Takes one turn; resolves with the process's answer. */
  turn(): Promise<unknown> {
    this.#child.stdin!.write('go\n');
    return this.#next();
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin!.end();
    await ended;
    this.#reader.close();
  }

  async #next(): Promise<unknown> {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error(`The contender ${this.name} ended: exit code ${this.#child.exitCode}.`);
    return JSON.parse(value);
  }
}
