/** The key-value cache of a sequence: one area for all layers, laid out as assembly/cache.ts says. */
import type { ModelConfig } from '../../model/config.ts';
import { type Heap, roundUp } from './heap.ts';

export interface Cache {
  readonly at: number;
  /** The number of keys that there is room for, a multiple of 8. */
  readonly room: number;
  /** The bytes from one layer to the next. */
  readonly layer: number;
}

/** The bytes of a cache with room for so many tokens. */
export function cacheBytes({ layers, kvHeads, headDim }: ModelConfig, tokens: number): number {
  return 4 * 2 * layers.length * kvHeads * headDim * roundUp(Math.max(1, tokens), 8);
}

export function newCache(heap: Heap, config: ModelConfig, tokens: number): Cache {
  const bytes = cacheBytes(config, tokens);
  return { at: heap.take(bytes), room: roundUp(Math.max(1, tokens), 8), layer: bytes / config.layers.length };
}
