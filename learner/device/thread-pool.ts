/**
 * Worker threads that run one kernel together. Each takes the next share until none is left, so a descheduled thread delays only one
 * share. The calling thread takes shares too and blocks until all are done, so a kernel is an ordinary synchronous call.
 */
import type { DeviceHost } from './host.ts';

/** A function that the kernel module exports; its arguments and result are numbers. */
export type KernelFunction = (...args: number[]) => number;

/** Indices into the control block (Int32Array). */
const SEQUENCE = 0;
const FINISHED = 1;
const KERNEL = 2;
const ARGUMENTS = 3;
const NEXT_PART = 4;
const PARTS = 5;
const FAILED = 6;
const CONTROL_BYTES = 64;
const MAX_ARGUMENTS = 24;
/** Number of polls before a waiting thread sleeps; they take less time than the gap between two kernels of a training step. */
const SPINS = 20000;

// The thread is plain JavaScript in a string, because a file would have to be found and compiled under tsx, vitest, node and a browser alike.
const THREAD_SOURCE = `
const abort = () => { throw new Error('abort'); };
const { exports } = new WebAssembly.Instance(w.module, { env: { memory: w.memory, abort } });
const kernels = w.names.map((name) => exports[name]);
const control = new Int32Array(w.control, 0, ${CONTROL_BYTES / 4});
const values = new Float64Array(w.control, ${CONTROL_BYTES});
exports.setWideTiles(w.wideTiles);
let seen = Atomics.load(control, ${SEQUENCE});
ready();
for (;;) {
  for (let s = 0; s < ${SPINS} && Atomics.load(control, ${SEQUENCE}) === seen; s++);
  while (Atomics.load(control, ${SEQUENCE}) === seen) Atomics.wait(control, ${SEQUENCE}, seen);
  seen = Atomics.load(control, ${SEQUENCE});
  const index = control[${KERNEL}];
  if (index < 0) break;
  try {
    const parts = control[${PARTS}];
    const args = Array.from(values.subarray(0, control[${ARGUMENTS}]));
    exports.setScratch(values[${MAX_ARGUMENTS} + w.thread]);
    for (let part; (part = Atomics.add(control, ${NEXT_PART}, 1)) < parts; ) kernels[index](...args, part, parts);
  } catch {
    Atomics.store(control, ${FAILED}, 1);
  }
  if (Atomics.add(control, ${FINISHED}, 1) + 1 === w.workers) Atomics.notify(control, ${FINISHED});
}`;

export interface PoolSettings {
  host: DeviceHost;
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  /** Exported kernels by name, instantiated on the calling thread. */
  kernels: Record<string, KernelFunction>;
  /** Worker threads besides the caller. */
  workers: number;
  wideTiles: boolean;
}

export class ThreadPool {
  readonly #kernels: Record<string, KernelFunction>;
  readonly #names: string[];
  /** Worker threads besides the caller. */
  readonly #workers: number;
  readonly #control: Int32Array;
  readonly #values: Float64Array;

  private constructor(
    kernels: Record<string, KernelFunction>,
    workers: number,
    control: ArrayBuffer | SharedArrayBuffer,
  ) {
    this.#kernels = kernels;
    this.#names = Object.keys(kernels);
    this.#workers = workers;
    this.#control = new Int32Array(control, 0, CONTROL_BYTES / 4);
    this.#values = new Float64Array(control, CONTROL_BYTES);
  }

  static async start(settings: PoolSettings): Promise<ThreadPool> {
    const { host, module, memory, kernels, workers, wideTiles } = settings;
    const bytes = CONTROL_BYTES + 8 * (MAX_ARGUMENTS + workers);
    // A page that is not isolated from others has no SharedArrayBuffer, and one thread needs none.
    const control = workers === 0 ? new ArrayBuffer(bytes) : new SharedArrayBuffer(bytes);
    const names = Object.keys(kernels);
    const started = Array.from({ length: workers }, (_, thread) => {
      const data = { module, memory, control, names, thread, workers, wideTiles: Number(wideTiles) };
      return host.startThread(THREAD_SOURCE, data);
    });
    await Promise.all(started);
    return new ThreadPool(kernels, workers, control);
  }

  get threads(): number {
    return this.#workers + 1;
  }

  /** Gives each worker its private work area (addresses in the kernels' memory). */
  setScratch(addresses: readonly number[]): void {
    this.#values.set(addresses, MAX_ARGUMENTS);
  }

  /** Runs a kernel in `parts` shares on all threads and returns when the last is done. */
  run(name: string, args: readonly number[], parts: number): void {
    const kernel = this.#kernels[name]!;
    const others = this.#workers;
    if (others === 0 || parts === 1) {
      for (let part = 0; part < parts; part++) kernel(...args, part, parts);
      return;
    }
    const control = this.#control;
    this.#values.set(args);
    control[FINISHED] = 0;
    control[KERNEL] = this.#names.indexOf(name);
    control[ARGUMENTS] = args.length;
    control[PARTS] = parts;
    control[NEXT_PART] = 0;
    control[FAILED] = 0;
    Atomics.add(control, SEQUENCE, 1);
    Atomics.notify(control, SEQUENCE);
    for (let part = Atomics.add(control, NEXT_PART, 1); part < parts; ) {
      kernel(...args, part, parts);
      part = Atomics.add(control, NEXT_PART, 1);
    }
    for (let s = 0; s < SPINS && Atomics.load(control, FINISHED) < others; s++);
    for (let done = Atomics.load(control, FINISHED); done < others; done = Atomics.load(control, FINISHED))
      Atomics.wait(control, FINISHED, done, 1);
    if (control[FAILED]) throw new Error(`internal: the kernel ${name} failed on a worker thread.`);
  }

  /** Ends the workers; the pool must not be used afterwards. */
  stop(): void {
    if (this.#workers === 0) return;
    this.#control[KERNEL] = -1;
    Atomics.add(this.#control, SEQUENCE, 1);
    Atomics.notify(this.#control, SEQUENCE);
  }
}
