/**
 * Keeps the keys and values of generated sequences, so that the next turn of an episode, whose prompt begins with such a sequence, reads
 * only what is new. A cached key has the bits that reading its token again gives (assembly/attention.ts), so nothing but time changes.
 *
 * Copying caches costs time that a policy of single turns would waste. So nothing is kept until a prompt is seen that goes on from what
 * the call before generated, and no more is kept after two calls in a row that had no such prompt.
 */
import type { TokenIds } from '../../core/policy/policy.ts';
import { type Cache, cacheBytes, newCache } from './cache.ts';
import type { Decoder } from './decoder.ts';

/** The keys and values of the tokens `ids`, in a layout with room for just these. */
export interface KeptCache {
  readonly ids: TokenIds;
  readonly data: Float32Array;
}

/** A part of a sequence: the first `count` tokens of a cache. */
export interface CachePart {
  readonly cache: Cache;
  readonly count: number;
}

/** Calls without any continued prompt after which no more is kept. */
const IDLE_CALLS = 2;

export class KeptTurns {
  readonly #mostBytes: number;
  /** By the hash of the sequence. Without data while nothing is kept. */
  #generated = new Map<number, { readonly ids: TokenIds; readonly data?: Float32Array }>();
  #bytes = 0;
  #idleCalls = IDLE_CALLS;

  /** `mostBytes`: the bound of what is kept between two calls. Sequences beyond it are read again. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Begins a call: returns what is kept of each prompt, and forgets everything else. */
  take(prompts: readonly TokenIds[]): (KeptCache | undefined)[] {
    const found = prompts.map((ids) => this.#longestBeginning(ids));
    this.#idleCalls = found.some((entry) => entry) ? 0 : Math.min(IDLE_CALLS, this.#idleCalls + 1);
    this.#generated = new Map();
    this.#bytes = 0;
    return found.map((entry) => (entry?.data ? { ids: entry.ids, data: entry.data } : undefined));
  }

  /** Notes a generated sequence; its tokens `ids` lie in the cache parts, one part after the other. It leaves the heap as it was. */
  put(decoder: Decoder, ids: TokenIds, parts: readonly CachePart[]): void {
    const data = this.#idleCalls < IDLE_CALLS ? this.#copy(decoder, ids.length, parts) : undefined;
    this.#generated.set(hashes(ids).at(-1)!, data ? { ids, data } : { ids });
  }

  #copy(
    { heap, config, kernels }: Decoder,
    count: number,
    parts: readonly CachePart[],
  ): Float32Array | undefined {
    const bytes = cacheBytes(config, count);
    if (this.#bytes + bytes > this.#mostBytes || !heap.hasRoom(bytes)) return undefined;
    const { mark } = heap;
    const whole = newCache(heap, config, count);
    let at = 0;
    for (const part of parts) {
      for (let layer = 0; layer < config.layers.length; layer++)
        copyLayer(kernels, config, layer, part, whole, at);
      at += part.count;
    }
    const data = heap.floats(whole.at, bytes / 4).slice();
    this.#bytes += bytes;
    heap.backTo(mark);
    return data;
  }

  #longestBeginning(ids: TokenIds): { readonly ids: TokenIds; readonly data?: Float32Array } | undefined {
    if (this.#generated.size === 0) return undefined;
    const ofPrefix = hashes(ids);
    // The last token of a prompt is the first input of its rows, so it is never read beforehand.
    for (let length = ids.length - 1; length > 0; length--) {
      const entry = this.#generated.get(ofPrefix[length - 1]!);
      if (entry?.ids.length === length && entry.ids.every((id, i) => id === ids[i])) return entry;
    }
    return undefined;
  }
}

/**
 * Copies what was kept to the front of a cache that has room for it, and returns for how many tokens: none where the heap has no room for the copy. It
 * leaves the heap as it was.
 */
export function restore({ heap, config, kernels }: Decoder, { ids, data }: KeptCache, to: Cache): number {
  if (!heap.hasRoom(data.byteLength)) return 0;
  const { mark } = heap;
  const whole = newCache(heap, config, ids.length);
  heap.floats(whole.at, data.length).set(data);
  const part = { cache: whole, count: ids.length };
  for (let layer = 0; layer < config.layers.length; layer++) copyLayer(kernels, config, layer, part, to, 0);
  heap.backTo(mark);
  return ids.length;
}

function copyLayer(
  kernels: Decoder['kernels'],
  { kvHeads, headDim }: Decoder['config'],
  layer: number,
  { cache, count }: CachePart,
  to: Cache,
  at: number,
): void {
  const source = cache.at + layer * cache.layer;
  kernels.copyCache(kvHeads, headDim, source, cache.room, count, to.at + layer * to.layer, to.room, at);
}

/** A hash of each beginning of a sequence: of its first token, its first two, … */
function hashes(ids: TokenIds): number[] {
  let hash = 0x811c9dc5;
  return ids.map((id) => {
    hash = Math.imul(hash ^ id, 0x01000193) ^ (hash >>> 15);
    return hash;
  });
}
