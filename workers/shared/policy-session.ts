/**
 * The open policies of an isolate. With ONNX Runtime only one is open at a time: 128 MB hold one set of weights and its runtime, so the old one
 * is disposed before the new one opens. With the kernels engine each has a memory of its own, and several stay open while they are small. Uses
 * are queued, so that no policy is disposed while it runs.
 */
import { type Policy, type PolicyRef, samePolicy } from '../../core/policy/policy.ts';
import { waiting } from './meter.ts';

/** The most bytes that policies kept beside another one may have together. */
const KEPT_BYTES = 32 << 20;

export type SessionPolicy = Policy & { readonly heapBytes: number };

export class PolicySession {
  readonly #open: (ref: PolicyRef) => Promise<SessionPolicy>;
  /** The open policies in the order of their last use. */
  #live: SessionPolicy[] = [];
  #tail: Promise<unknown> = Promise.resolve();

  constructor(open: (ref: PolicyRef) => Promise<SessionPolicy>) {
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
    const found = this.#live.find((policy) => samePolicy(policy.ref, ref));
    if (found) {
      this.#live = [...this.#live.filter((policy) => policy !== found), found];
      return found;
    }
    await this.#makeRoom(ref);
    const opened = await this.#open(ref);
    this.#live.push(opened);
    return opened;
  }

  /** Disposes the policies that may not stay beside the one to be opened, the least recently used first. */
  async #makeRoom(ref: PolicyRef): Promise<void> {
    const bytes = () => this.#live.reduce((sum, { heapBytes }) => sum + heapBytes, 0);
    const mayStay = () =>
      ref.engine && this.#live.every((policy) => policy.ref.engine) && bytes() <= KEPT_BYTES;
    while (this.#live.length && !mayStay()) await this.#live.shift()!.dispose();
  }
}
