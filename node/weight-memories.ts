/**
 * The memories in which the threads of a node lay out weights, one for each version that is in use. A memory is never given up, since what threads share
 * is not seen by their garbage collectors: it takes another version once no call that is computed uses the one it holds.
 */
import { empty, newSharedMemory, type SharedMemory } from '../infer/kernels/shared-weights.ts';

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
  readonly #most: number;
  /** In the order of their last use. */
  readonly #kept: Kept[] = [];
  #ids = 0;

  /** `most`: as many memories are made, and more only while calls use all of them. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Assigns memories to versions for a call, after which `release` is to be called. */
  hold(keys: readonly string[]): Held {
    return Object.fromEntries(
      keys.map((key) => {
        const kept = this.#take(key);
        kept.uses++;
        return [key, { memory: kept.index, id: kept.id }];
      }),
    );
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
    const free = this.#kept.length < this.#most ? -1 : this.#kept.findIndex(({ uses }) => uses === 0);
    const [found] = at >= 0 ? this.#kept.splice(at, 1) : free >= 0 ? this.#kept.splice(free, 1) : [];
    const kept = found ?? { ...newSharedMemory(), index: this.#kept.length, key: '', id: 0, uses: 0 };
    this.#kept.push(kept);
    if (kept.key !== key) {
      empty(kept);
      kept.key = key;
      kept.id = ++this.#ids;
    }
    return kept;
  }
}
