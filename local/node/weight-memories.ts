/**
 * The memories in which the threads of a node lay out weights, one for each version that is in use. A memory is never given up, since what threads share
 * is not seen by their garbage collectors: it takes another version once no call that is computed uses the one it holds.
 */
import { empty, newSharedMemory, type SharedMemory } from '../../infer/kernels/shared-weights.ts';

interface Kept extends SharedMemory {
  /** Its place in the list, by which threads know it. */
  readonly index: number;
  /** What it holds, and an id that no version had before. */
  key: string;
  id: number;
  /** How many calls that are computed use it. */
  uses: number;
}

/** Where the weights of some versions are, by their keys: which memory, and the id of what it holds. */
export type Held = Readonly<Record<string, { readonly memory: number; readonly id: number }>>;

export class WeightMemories {
  #most: number;
  readonly #make: () => SharedMemory;
  /** In the order of their last use. */
  readonly #kept: Kept[] = [];
  #ids = 0;

  /** `most`: as many memories are made, and more only while calls use all of them. `make` throws RangeError where the host has no more. */
  constructor(most: number, make: () => SharedMemory = newSharedMemory) {
    this.#most = most;
    this.#make = make;
  }

  /**
   * Assigns memories to versions for a call, after which `release` is to be called. Throws RangeError where the host has no memory for another
   * version and calls use all that there are.
   */
  hold(keys: readonly string[]): Held {
    const held: Record<string, Held[string]> = {};
    try {
      for (const key of keys) {
        const kept = this.#take(key);
        kept.uses++;
        held[key] = { memory: kept.index, id: kept.id };
      }
    } catch (error) {
      this.release(held);
      throw error;
    }
    return held;
  }

  release(held: Held): void {
    for (const { memory } of Object.values(held)) this.#kept.find(({ index }) => index === memory)!.uses--;
  }

  memory(index: number): SharedMemory {
    const { memory, state } = this.#kept.find((kept) => kept.index === index)!;
    return { memory, state };
  }

  #take(key: string): Kept {
    const at = this.#kept.findIndex((kept) => kept.key === key);
    const [found] = at >= 0 ? this.#kept.splice(at, 1) : [];
    const kept = found ?? (this.#kept.length < this.#most ? this.#made() : (this.#free() ?? this.#made()));
    this.#kept.push(kept);
    if (kept.key !== key) {
      empty(kept);
      kept.key = key;
      kept.id = ++this.#ids;
    }
    return kept;
  }

  /** A new memory, or one that no call uses where the host has no more. */
  #made(): Kept {
    try {
      return { ...this.#make(), index: this.#kept.length, key: '', id: 0, uses: 0 };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // Asking again and again would have V8 collect garbage each time.
      this.#most = this.#kept.length;
      const free = this.#free();
      if (free) return free;
      throw error;
    }
  }

  /** Takes the memory out of the list that no call uses, and was used least recently. */
  #free(): Kept | undefined {
    const free = this.#kept.findIndex(({ uses }) => uses === 0);
    return free < 0 ? undefined : this.#kept.splice(free, 1)[0];
  }
}
