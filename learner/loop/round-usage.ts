/**
 * The learner's share of a round's platform usage: everything since the previous round was closed, so that none is left out. Pulls that
 * found nothing are counted apart, because a mesh that waits for orders makes them too.
 */

import { addUsage, NOTHING_USED, type Usage, usageSince } from '../../core/cost/usage.ts';
import type { Tally } from '../../workers/api/tally.ts';

export class RoundUsage {
  readonly #tally: Pick<Tally, 'total'> | undefined;
  #before: Usage;
  /** Pulls that found nothing since the previous round was closed. */
  #emptyPulls = 0;
  /** What there was when the round was reported last: what is used after that belongs to the next one. */
  #reported: { readonly total: Usage; readonly emptyPulls: number } | undefined;

  constructor(tally: Pick<Tally, 'total'> | undefined) {
    this.#tally = tally;
    this.#before = tally?.total ?? NOTHING_USED;
  }

  /** Notes a pull that found nothing; the tally has counted it as an operation. */
  foundNothing(): void {
    this.#emptyPulls++;
  }

  /**
   * The usage to report: what was used until now, the request of the report itself, and the message deletions that follow it; apart from
   * it, `idle`, what the pulls that found nothing used.
   */
  used(deletions: number): { used?: Usage; idle?: Usage } {
    if (!this.#tally) return {};
    const idle = { ...NOTHING_USED, queueOperations: this.#emptyPulls };
    const coming = { ...NOTHING_USED, requests: 1, queueOperations: deletions };
    const total = addUsage(this.#tally.total, coming);
    this.#reported = { total, emptyPulls: this.#emptyPulls };
    const all = usageSince(total, this.#before);
    return { used: usageSince(all, idle), idle };
  }

  /** Ends the round: what was not reported with it belongs to the next one; that of a round without a report is dropped. */
  close(): void {
    this.#before = this.#reported?.total ?? this.#tally?.total ?? NOTHING_USED;
    this.#emptyPulls -= this.#reported?.emptyPulls ?? this.#emptyPulls;
    this.#reported = undefined;
  }
}
