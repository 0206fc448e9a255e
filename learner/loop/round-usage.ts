/**
 * The learner's share of a round's platform usage: everything since the previous round was closed. Pulls of an empty queue therefore count
 * towards the round that was waited for, and no usage is left out.
 */
import type { Tally } from '../../api/tally.ts';
import { addUsage, NOTHING_USED, type Usage, usageSince } from '../../core/cost/usage.ts';

export class RoundUsage {
  readonly #tally: Pick<Tally, 'total'> | undefined;
  #before: Usage;

  constructor(tally: Pick<Tally, 'total'> | undefined) {
    this.#tally = tally;
    this.#before = tally?.total ?? NOTHING_USED;
  }

  /** The usage to report: what was used until now, the request of the report itself, and the message deletions that follow it. */
  used(deletions: number): { used?: Usage } {
    if (!this.#tally) return {};
    const coming = { ...NOTHING_USED, requests: 1, queueOperations: deletions };
    return { used: addUsage(usageSince(this.#tally.total, this.#before), coming) };
  }

  /** Ends the round: usage from here on belongs to the next one. */
  close(): void {
    this.#before = this.#tally?.total ?? NOTHING_USED;
  }
}
