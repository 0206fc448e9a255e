/**
 * What this isolate leased to nodes a moment ago. A result that comes to the same isolate is checked against it, which saves the call of D1
 * that reads the request again. Whether the node still holds what it answers is decided by the statement that notes the result.
 */
import type { NodeRow } from '../store/nodes.ts';
import type { LeasedWork } from '../store/work.ts';
import { claimed, type NodeClaim } from './guards.ts';

/** Of a request that a node holds, what its result is checked by. */
export type HeldWork = Pick<LeasedWork, 'id' | 'round' | 'request'>;

interface Kept {
  readonly node: NodeRow;
  readonly work: ReadonlyMap<string, HeldWork>;
  readonly characters: number;
}

/** Of the requests' JSON, all leases together. A request of sixteen prompts of the shipped policies has three thousand. */
const KEPT_CHARACTERS = 2_000_000;

export class KeptLeases {
  /** By the lease, oldest first. */
  readonly #leases = new Map<string, Kept>();
  #characters = 0;

  keep(node: NodeRow, lease: string, leased: readonly LeasedWork[]): void {
    const characters = leased.reduce((sum, one) => sum + one.characters, 0);
    if (characters > KEPT_CHARACTERS) return;
    const work = new Map(leased.map(({ id, round, request }) => [id, { id, round, request }]));
    this.#leases.set(lease, { node, work, characters });
    this.#characters += characters;
    for (const oldest of this.#leases.keys()) {
      if (this.#characters <= KEPT_CHARACTERS) break;
      this.drop(oldest);
    }
  }

  /** The node that a claim is of, if it was leased something here. */
  nodeOf(claim: NodeClaim): NodeRow | undefined {
    for (const { node } of this.#leases.values()) if (node.id === claim.id) return claimed(claim, node);
    return undefined;
  }

  /** What a node was leased, by the ids of the requests; empty where it is not kept. */
  heldBy({ id }: NodeRow, lease: string): ReadonlyMap<string, HeldWork> {
    const kept = this.#leases.get(lease);
    return kept?.node.id === id ? kept.work : NOTHING;
  }

  drop(lease: string): void {
    this.#characters -= this.#leases.get(lease)?.characters ?? 0;
    this.#leases.delete(lease);
  }
}

const NOTHING: ReadonlyMap<string, HeldWork> = new Map();
