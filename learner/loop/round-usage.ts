/**
 * What a round cost on the learner's side: everything since the round before it was closed, so that pulls of an empty queue count to the round
 * that was waited for, and nothing is left out.
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

  /** For a report: until now, the report itself, and messages that will be deleted after it. */
  used(deletions: number): { used?: Usage } {
    if (!this.#tally) return {};
    const coming = { ...NOTHING_USED, requests: 1, queueOperations: deletions };
    return { used: addUsage(usageSince(this.#tally.total, this.#before), coming) };
  }

  /** What follows belongs to the next round. */
  close(): void {
    this.#before = this.#tally?.total ?? NOTHING_USED;
  }
}
