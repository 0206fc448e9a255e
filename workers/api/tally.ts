/** Adds up what the learner makes the mesh use: what the gateway reports with each answer, and the operations of the queue that it pulls from. */
import * as v from 'valibot';
import { addUsage, NOTHING_USED, type Usage, usageCounts } from '../../core/cost/usage.ts';

export class Tally {
  #total: Usage = NOTHING_USED;

  /** The sum since the tally was created. */
  get total(): Usage {
    return this.#total;
  }

  add(used: Partial<Usage>): void {
    this.#total = addUsage(this.#total, { ...NOTHING_USED, ...used });
  }

  /** Adds the usage in an answer's header. A header that cannot be read counts as one request. */
  addHeader(header: string | null): void {
    this.add(parsed(header) ?? { requests: 1 });
  }
}

function parsed(header: string | null): Usage | null {
  try {
    return v.parse(usageCounts, JSON.parse(header ?? ''));
  } catch {
    return null;
  }
}
