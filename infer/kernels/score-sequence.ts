/** Computes the log-probabilities and entropies of a given sequence's tokens. */
import type { TokenIds, TokenScores } from '../../core/policy/policy.ts';
import { newCache } from './cache.ts';
import type { Decoder } from './decoder.ts';
import { PORTION, readSequence } from './read.ts';

/** The most logits that are held at once. */
const MOST_LOGITS = 1 << 21;

/** Scores a sequence of at least two tokens. It leaves the heap as it was. */
export function scoreSequence(decoder: Decoder, ids: TokenIds): TokenScores {
  const { kernels, heap, config, logitsWidth } = decoder;
  const inputs = ids.slice(0, -1);
  const { mark } = heap;
  const rows = Math.max(1, Math.min(PORTION, inputs.length, Math.floor(MOST_LOGITS / logitsWidth)));
  const work = decoder.work(rows, 1, inputs.length + 8);
  const cache = newCache(heap, config, inputs.length);
  const logits = heap.take(4 * rows * logitsWidth);
  const room = heap.take(4 * logitsWidth);
  const [logprobs, entropies] = [heap.take(4 * rows), heap.take(4 * rows)];
  const scores: TokenScores = { logprobs: [], entropy: [] };
  readSequence(decoder, work, inputs, cache, 0, (first, count) => {
    decoder.logits(count, work, logits);
    heap.integers(work.ids, count).set(ids.slice(first + 1, first + 1 + count));
    kernels.score(count, config.vocabSize, logitsWidth, logits, work.ids, logprobs, entropies, room);
    scores.logprobs.push(...heap.floats(logprobs, count));
    scores.entropy.push(...heap.floats(entropies, count));
  });
  heap.backTo(mark);
  return scores;
}
