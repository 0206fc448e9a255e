/**
 * The open policies of an isolate. ONNX Runtime's are one at a time: 128 MB hold one set of weights and its runtime, so the old one goes before
 * the new one comes. Those of the kernels engine have a memory of their own each, and several stay as long as they are small. Uses are queued,
 * so that none is disposed while it runs.
 */
import { type Policy, type PolicyRef, samePolicy } from '../../core/policy.ts';
import { waiting } from './meter.ts';

/** Bytes that policies which are kept beside another may have together. */
const KEPT_BYTES = 32 << 20;

export type SessionPolicy = Policy & { readonly heapBytes: number };

export class PolicySession {
  readonly #open: (ref: PolicyRef) => Promise<SessionPolicy>;
  /** In the order of their last use. */
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

  /** Gives up what may not stay beside a policy that is to be opened, the longest unused first. */
  async #makeRoom(ref: PolicyRef): Promise<void> {
    const bytes = () => this.#live.reduce((sum, { heapBytes }) => sum + heapBytes, 0);
    const mayStay = () =>
      ref.engine && this.#live.every((policy) => policy.ref.engine) && bytes() <= KEPT_BYTES;
    while (this.#live.length && !mayStay()) await this.#live.shift()!.dispose();
  }
}
