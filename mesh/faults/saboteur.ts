/**
 * Carries out strikes one after another: waits for the moment, kills, and starts the victim again at once. The next strike
 * is armed as soon as the last one has hit, so that a process may be killed again before it has found its feet.
 */
import type { Cluster } from './cluster.ts';
import type { LogEvent } from './log-tail.ts';
import type { Handler, ProxyRequest } from './proxy.ts';
import type { Moment, Strike } from './strikes.ts';

/** No request for so long after reading groups: the learner is training. */
const QUIET_MS = 80;

export class Saboteur {
  readonly #next: () => Strike | null;
  readonly #hitBy: (strike: Strike) => void;
  #cluster: Cluster | undefined;
  #armed: Strike | null = null;
  /** Its moment has come, and it is about to hit. */
  #aimed: Strike | null = null;
  #quiet: NodeJS.Timeout | undefined;
  #trouble: unknown;
  /** Restarts under way. */
  readonly #pending = new Set<Promise<void>>();
  /** Strikes that hit, in order. */
  readonly done: Strike[] = [];

  /** `next` gives the strike that follows, null after the last; `hit` is told of each that hit. */
  constructor(next: () => Strike | null, hit: (strike: Strike) => void = () => {}) {
    this.#next = next;
    this.#hitBy = hit;
  }

  attach(cluster: Cluster): void {
    this.#cluster = cluster;
    this.#armed = this.#next();
  }

  /** A strike waits for its moment, is about to hit, or a victim is on its way back. */
  get busy(): boolean {
    return this.#armed !== null || this.#aimed !== null || this.#pending.size > 0;
  }

  readonly onEvent = ({ event }: LogEvent): void => {
    const strike = this.#armed;
    if (!strike || !('log' in strike.at) || strike.at.log !== event) return;
    const { delayMs = 0 } = strike.at;
    if (delayMs === 0) this.#hit(strike);
    else {
      this.#aim(strike);
      const hit = () => this.#hit(strike);
      setTimeout(hit, delayMs);
    }
  };

  /** Wraps a handler of the proxy: strikes around requests hit here. */
  wrap(handler: Handler): Handler {
    return async (request, forward) => {
      clearTimeout(this.#quiet);
      const strike = this.#armed;
      const when = strike && momentOf(strike.at, request);
      if (!strike || !when) return handler(request, forward);
      if (when === 'quiet') {
        const response = await handler(request, forward);
        this.#quiet = setTimeout(() => this.#armed === strike && this.#hit(strike), QUIET_MS);
        return response;
      }
      if (when === 'before') {
        this.#hit(strike);
        return null;
      }
      if (when === 'middle') {
        this.#aim(strike);
        await forward(request, Math.floor(request.body.length / 2)).catch(() => undefined);
        this.#hit(strike);
        return null;
      }
      this.#aim(strike);
      await handler(request, forward).catch(() => undefined);
      this.#hit(strike);
      return null;
    };
  }

  /** Resolves when nobody is being started. Throws where a victim did not come back. */
  async settled(): Promise<void> {
    while (this.#pending.size) await Promise.all(this.#pending);
    if (this.#trouble) throw this.#trouble;
  }

  #aim(strike: Strike): void {
    this.#armed = null;
    this.#aimed = strike;
  }

  #hit(strike: Strike): void {
    this.#armed = null;
    this.#aimed = null;
    const work = this.#carryOut(strike)
      .catch((error: unknown) => {
        this.#trouble ??= error;
      })
      .finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  async #carryOut(strike: Strike): Promise<void> {
    const cluster = this.#cluster!;
    await cluster.kill(strike.victim);
    this.done.push(strike);
    this.#hitBy(strike);
    this.#armed = this.#next();
    await cluster.start(strike.victim);
  }
}

const momentOf = (at: Moment, request: ProxyRequest) =>
  'request' in at && at.request === request.kind ? at.when : null;
