/**
 * Carries out kill points one after another: waits for the moment, then kills the target and starts it again at once, or pauses it. The next
 * kill point is armed as soon as the last one has hit, so that a process may be killed again before it is fully up.
 */
import type { Cluster } from './cluster.ts';
import type { KillPoint, Moment } from './kill-points.ts';
import type { LogEvent } from './log-tail.ts';
import type { Handler, ProxyRequest } from './proxy.ts';

/** If the learner sends no request but pulls for this long (ms) after reading groups, it is training. */
const QUIET_MS = 80;

export class FaultInjector {
  readonly #next: () => KillPoint | null;
  readonly #hitBy: (killPoint: KillPoint) => void;
  #cluster: Cluster | undefined;
  #armed: KillPoint | null = null;
  /** The kill point whose moment has come and which is about to hit. */
  #aimed: KillPoint | null = null;
  #quiet: NodeJS.Timeout | undefined;
  #trouble: unknown;
  /** The restarts under way. */
  readonly #pending = new Set<Promise<void>>();
  /** The kill points that hit, in order. */
  readonly done: KillPoint[] = [];

  /** `next` returns the kill point that follows, or null after the last; `hit` is called with each kill point that hit. */
  constructor(next: () => KillPoint | null, hit: (killPoint: KillPoint) => void = () => {}) {
    this.#next = next;
    this.#hitBy = hit;
  }

  attach(cluster: Cluster): void {
    this.#cluster = cluster;
    this.#armed = this.#next();
  }

  /** Whether a kill point waits for its moment or is about to hit, or a target is being restarted. */
  get busy(): boolean {
    return this.#armed !== null || this.#aimed !== null || this.#pending.size > 0;
  }

  readonly onEvent = ({ event }: LogEvent): void => {
    const killPoint = this.#armed;
    if (!killPoint || !('log' in killPoint.at) || killPoint.at.log !== event) return;
    const { delayMs = 0 } = killPoint.at;
    if (delayMs === 0) this.#hit(killPoint);
    else {
      this.#aim(killPoint);
      const hit = () => this.#hit(killPoint);
      setTimeout(hit, delayMs);
    }
  };

  /** Wraps a handler of the proxy so that kill points around requests hit. */
  wrap(handler: Handler): Handler {
    return async (request, forward) => {
      if (request.kind !== 'pull') clearTimeout(this.#quiet);
      const killPoint = this.#armed;
      const when = killPoint && momentOf(killPoint.at, request);
      if (!killPoint || !when) return handler(request, forward);
      if (when === 'quiet') {
        const response = await handler(request, forward);
        this.#quiet = setTimeout(() => this.#armed === killPoint && this.#hit(killPoint), QUIET_MS);
        return response;
      }
      if (when === 'before') {
        this.#hit(killPoint);
        return null;
      }
      if (when === 'middle') {
        this.#aim(killPoint);
        await forward(request, Math.floor(request.body.length / 2)).catch(() => undefined);
        this.#hit(killPoint);
        return null;
      }
      this.#aim(killPoint);
      await handler(request, forward).catch(() => undefined);
      this.#hit(killPoint);
      return null;
    };
  }

  /** Resolves when no target is being restarted. Throws if a target did not come back. */
  async settled(): Promise<void> {
    while (this.#pending.size) await Promise.all(this.#pending);
    if (this.#trouble) throw this.#trouble;
  }

  #aim(killPoint: KillPoint): void {
    this.#armed = null;
    this.#aimed = killPoint;
  }

  #hit(killPoint: KillPoint): void {
    this.#armed = null;
    this.#aimed = null;
    const work = this.#carryOut(killPoint)
      .catch((error: unknown) => {
        this.#trouble ??= error;
      })
      .finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  async #carryOut(killPoint: KillPoint): Promise<void> {
    const cluster = this.#cluster!;
    const { target, pauseMs } = killPoint;
    if (pauseMs === undefined) await cluster.kill(target);
    else await cluster.pause(target, pauseMs);
    this.done.push(killPoint);
    this.#hitBy(killPoint);
    this.#armed = this.#next();
    if (pauseMs === undefined) await cluster.start(target);
  }
}

const momentOf = (at: Moment, request: ProxyRequest) =>
  'request' in at && at.request === request.kind ? at.when : null;
