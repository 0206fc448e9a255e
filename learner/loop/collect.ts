/** Scored messages by round, each group once. A group that arrives again is a duplicate and changes nothing. */
import type { ScoredMessage } from '../../core/schema/round.ts';

export interface Leased {
  readonly lease: string;
  readonly body: ScoredMessage;
}

export class Collector {
  readonly #rounds = new Map<string, Map<string, Leased[]>>();

  get rounds(): string[] {
    return [...this.#rounds.keys()];
  }

  add(message: Leased): void {
    const { round, group } = message.body;
    const groups = this.#rounds.get(round) ?? new Map<string, Leased[]>();
    const before = groups.get(group) ?? [];
    groups.set(group, [...before, message]);
    this.#rounds.set(round, groups);
  }

  /** One message a group: the newest delivery. */
  messages(round: string): ScoredMessage[] {
    return [...(this.#rounds.get(round)?.values() ?? [])].map((deliveries) => deliveries.at(-1)!.body);
  }

  /** Deliveries of a round's groups beyond the first of each. */
  duplicates(round: string): number {
    return [...(this.#rounds.get(round)?.values() ?? [])].reduce((sum, group) => sum + group.length - 1, 0);
  }

  /** Forgets a round and returns every lease of it, duplicates' included, to be acknowledged. */
  take(round: string): string[] {
    const leases = [...(this.#rounds.get(round)?.values() ?? [])].flat().map((message) => message.lease);
    this.#rounds.delete(round);
    return leases;
  }
}
