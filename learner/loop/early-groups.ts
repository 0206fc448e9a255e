/**
 * Fetches the groups of a round as their messages arrive, so that the last group of a round is the only one that its training waits
 * for. What is fetched early is checked against the message's hash and kept in memory within a bound; anything else is fetched when the
 * round is gathered.
 */
import { sha256Hex } from '../../core/random.ts';
import { keys, type ScoredMessage } from '../../core/schema/round.ts';
import type { MeshGateway } from './ports.ts';

/** The most bytes that are held, and the most fetches at once. */
const MOST_BYTES = 64 << 20;
const AT_ONCE = 8;

export class EarlyGroups {
  readonly #gateway: Pick<MeshGateway, 'getObject'>;
  /** By key: the round that the object belongs to, and its bytes; null where they could not be fetched. */
  readonly #held = new Map<string, { readonly round: string; readonly bytes: Promise<Uint8Array | null> }>();
  readonly #waiting: (() => void)[] = [];
  #fetching = 0;
  #bytes = 0;

  constructor(gateway: Pick<MeshGateway, 'getObject'>) {
    this.#gateway = gateway;
  }

  /** Begins to fetch the group of a message, unless that was begun before or the bound is reached. */
  begin({ round, group, key, sha256 }: ScoredMessage): void {
    if (key !== keys.scored(round, group) || this.#held.has(key) || this.#bytes >= MOST_BYTES) return;
    this.#held.set(key, { round, bytes: this.#fetch(key, sha256) });
  }

  /** The object's bytes: those that were fetched early, which it then forgets, or else fetched now. */
  async getObject(key: string, sha256?: string): Promise<Uint8Array> {
    const bytes = await this.#held.get(key)?.bytes;
    this.#forget(key, bytes);
    return bytes ?? this.#gateway.getObject(key, sha256);
  }

  /** Forgets what was fetched for a round that is over. */
  async forgetRound(round: string): Promise<void> {
    for (const [key, held] of [...this.#held]) if (held.round === round) this.#forget(key, await held.bytes);
  }

  #forget(key: string, bytes: Uint8Array | null | undefined): void {
    if (this.#held.delete(key)) this.#bytes -= bytes?.length ?? 0;
  }

  async #fetch(key: string, sha256: string): Promise<Uint8Array | null> {
    if (this.#fetching >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#fetching++;
    try {
      // The bound may have been reached since it was asked for.
      if (this.#bytes >= MOST_BYTES) return null;
      const bytes = await this.#gateway.getObject(key);
      if (sha256Hex(bytes) !== sha256) return null;
      this.#bytes += bytes.length;
      return bytes;
    } catch {
      // It is fetched again when the round is gathered, and a failure then has its consequences.
      return null;
    } finally {
      this.#fetching--;
      this.#waiting.shift()?.();
    }
  }
}
