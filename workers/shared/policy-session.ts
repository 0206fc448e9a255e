/**
 * The one policy session of an isolate. 128 MB hold one set of weights and its runtime, so the old session goes before
 * the new one comes; and uses are queued, so that none is disposed while it runs.
 */
import { type Policy, type PolicyRef, samePolicy } from '../../core/policy.ts';
import { waiting } from './meter.ts';

export class PolicySession {
  readonly #open: (ref: PolicyRef) => Promise<Policy>;
  #live: Policy | undefined;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(open: (ref: PolicyRef) => Promise<Policy>) {
    this.#open = open;
  }

  /** Runs `work` with exactly this version; one use at a time, in the order asked. */
  use<T>(ref: PolicyRef, work: (policy: Policy) => Promise<T>): Promise<T> {
    const before = this.#tail;
    const turn = waiting(() => before).then(async () => work(await this.#switchTo(ref)));
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async #switchTo(ref: PolicyRef): Promise<Policy> {
    if (this.#live && samePolicy(this.#live.ref, ref)) return this.#live;
    const old = this.#live;
    this.#live = undefined;
    await old?.dispose();
    this.#live = await this.#open(ref);
    return this.#live;
  }
}
