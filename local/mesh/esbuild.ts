/**
 * esbuild's `build`, whose process ends a moment after the last bundle. Left alone it waits for the next one with all memory that the last one took, half a
 * gigabyte for the Workers; the next bundle starts another.
 */
import { build as esbuild, stop } from 'esbuild';

const IDLE_MS = 1_000;

/** Stops a service when no work has been under way for so long, ms. */
export class StoppedWhenIdle {
  readonly #stop: () => Promise<void>;
  readonly #idleMs: number;
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(stopService: () => Promise<void>, idleMs: number) {
    this.#stop = stopService;
    this.#idleMs = idleMs;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    clearTimeout(this.#timer);
    this.#underWay++;
    try {
      return await work();
    } finally {
      this.#underWay--;
      if (!this.#underWay) this.#timer = setTimeout(() => void this.#stop(), this.#idleMs).unref();
    }
  }
}

const service = new StoppedWhenIdle(stop, IDLE_MS);

export const build = ((options: Parameters<typeof esbuild>[0]) =>
  service.during(() => esbuild(options))) as typeof esbuild;
