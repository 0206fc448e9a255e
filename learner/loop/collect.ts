/** Collects scored messages by round and counts each group once. A group that arrives again is a duplicate and changes nothing. */
import type { ScoredMessage } from '../../core/schema/round.ts';
import type { GroupStates } from './ports.ts';

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

/**
 * The messages of exactly those groups that wait to be trained, once all of them have arrived; null before that. Hash and seal are taken
 * from the mesh's database where it has them, so that a message from elsewhere can announce a group but not change what is checked.
 */
export function wholeRound(groups: GroupStates, arrived: readonly ScoredMessage[]): ScoredMessage[] | null {
  const messageOf = new Map(arrived.map((message) => [message.group, message]));
  const scored = groups.filter((group) => group.state === 'scored');
  if (!scored.length || !scored.every(({ group }) => messageOf.has(group))) return null;
  return scored.map(({ group, sha256, mac }) => {
    const message = messageOf.get(group)!;
    return { ...message, sha256: sha256 ?? message.sha256, mac: mac ?? message.mac };
  });
}
