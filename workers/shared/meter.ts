/**
 * Counts what a Worker uses while it works on something. Bindings count into whichever meter is running where they are called (see
 * metered-bindings.ts), so that work which several batches share, such as opening a policy, is counted to the one that waits for it.
 *
 * A Worker cannot read its CPU time. What is counted instead is the time in which it was not waiting, and since a deployed Worker's clock stands
 * still between two events, an exact meter lets an event pass before each reading.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { NOTHING_USED, type Usage } from '../../core/cost/usage.ts';

const running = new AsyncLocalStorage<Meter>();

/** Lets one event pass, after which the clock is right. */
const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

class Meter {
  readonly #used: Usage = { ...NOTHING_USED };
  readonly #exact: boolean;
  #began = Date.now();
  #waitedMs = 0;
  /** Waits under way: where they overlap, the time counts once. */
  #waits = 0;
  #waitsSince = 0;

  constructor(exact: boolean) {
    this.#exact = exact;
  }

  count(field: keyof Usage, n: number): void {
    this.#used[field] += n;
  }

  async wait<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waits++ === 0) {
      if (this.#exact) await tick();
      this.#waitsSince = Date.now();
    }
    try {
      return await work();
    } finally {
      if (--this.#waits === 0) this.#waitedMs += Date.now() - this.#waitsSince;
    }
  }

  take(): Usage {
    const now = Date.now();
    const taken = { ...this.#used, cpuMs: Math.max(0, now - this.#began - this.#waitedMs) };
    Object.assign(this.#used, NOTHING_USED);
    this.#began = now;
    this.#waitedMs = 0;
    return taken;
  }

  async read(): Promise<Usage> {
    if (this.#exact) await tick();
    return { ...this.#used, cpuMs: Math.max(0, Date.now() - this.#began - this.#waitedMs) };
  }
}

/** What the running meter has counted so far, and counts no more; nothing where none is running. */
export const takeUsed = (): Usage => running.getStore()?.take() ?? { ...NOTHING_USED };

/** Adds to the running meter, if there is one. */
export const countUsed = (field: keyof Usage, n: number): void => running.getStore()?.count(field, n);

/** Runs work that only waits for others, and does not count its time as CPU time of this Worker. */
export function waiting<T>(work: () => Promise<T>): Promise<T> {
  const meter = running.getStore();
  return meter ? meter.wait(work) : work();
}

/**
 * Runs `work` and reports what it used, also if it fails. `exact` is for work that computes: it costs an event, about 1 ms, at each wait.
 */
export async function metered<T>(
  work: () => Promise<T>,
  { exact }: { readonly exact: boolean },
): Promise<{ result: PromiseSettledResult<T>; used: Usage }> {
  const meter = new Meter(exact);
  const [result] = await running.run(meter, () => Promise.allSettled([work()]));
  return { result, used: await meter.read() };
}
