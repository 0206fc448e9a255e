/** Collects scored messages by round and counts each group once. A group that arrives again is a duplicate and changes nothing. */
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

  /** Is a delivery of the group held? */
  holds({ round, group }: ScoredMessage): boolean {
    return this.#rounds.get(round)?.has(group) ?? false;
  }

  /** One message for each group of the round: its newest delivery. */
  messages(round: string): ScoredMessage[] {
    return [...(this.#rounds.get(round)?.values() ?? [])].map((deliveries) => deliveries.at(-1)!.body);
  }

  /** Number of deliveries beyond the first of each group of the round. */
  duplicates(round: string): number {
    return [...(this.#rounds.get(round)?.values() ?? [])].reduce((sum, group) => sum + group.length - 1, 0);
  }

  /** Forgets a round and returns all its leases, including those of duplicates, so that they can be acknowledged. */
  take(round: string): string[] {
    const leases = [...(this.#rounds.get(round)?.values() ?? [])].flat().map((message) => message.lease);
    this.#rounds.delete(round);
    return leases;
  }
}
