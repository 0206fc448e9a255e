/** Prefills a cache with the keys and values of a sequence, in portions that bound the work area. */
import type { TokenIds } from '../../core/policy/policy.ts';
import type { Cache } from './cache.ts';
import type { Decoder, Work } from './decoder.ts';

/** The number of tokens that go through the layers together. More would not make the matrix products faster. */
export const PORTION = 48;

/** Called after each portion. The `rows` hidden states of its tokens, from token `first` on, are in `work.x`. */
export type Portion = (first: number, rows: number) => void;

/** Reads a sequence into a cache. `known` is the number of first tokens whose keys and values the cache has already. */
export function readSequence(
  decoder: Decoder,
  work: Work,
  ids: TokenIds,
  cache: Cache,
  known = 0,
  portion?: Portion,
): void {
  const { kernels, qkvWidth } = decoder;
  const { heads, kvHeads, headDim } = decoder.config;
  const { qkv, input, attention } = work;
  const keys = qkv + 4 * heads * headDim;
  const patches = decoder.patchesIn(ids);
  for (let first = known; first < ids.length; first += work.rows) {
    const part = ids.slice(first, first + work.rows);
    const positions = part.map((_, i) => first + i);
    const seen = patches && part.map((_, i) => patches.get(first + i));
    const attend = (layer: number) => {
      const at = cache.at + layer * cache.layer;
      kernels.appendTokens(part.length, qkvWidth, keys, at, kvHeads, headDim, cache.room, first);
      const { room } = cache;
      kernels.attendPrompt(
        part.length,
        first,
        heads,
        kvHeads,
        headDim,
        qkv,
        qkvWidth,
        input,
        at,
        room,
        ...decoder.attended(layer),
        attention,
      );
    };
    decoder.run(work, part, positions, attend, seen);
    portion?.(first, part.length);
  }
}
