/** Computes the log-probabilities and entropies of a given sequence's tokens, and what the head gives after each. */
import { tokensOf } from '../../core/images/patches.ts';
import type { TokenIds, TokenScores } from '../../core/policy/policy.ts';
import { addPlace, noPlaces } from '../alternatives.ts';
import { newCache } from './cache.ts';
import type { Decoder } from './decoder.ts';
import { PORTION, readSequence } from './read.ts';

/** The most logits that are held at once. */
const MOST_LOGITS = 1 << 21;

/**
 * Scores a sequence of at least two tokens, or of one where there is a head. `most`: how many alternatives are told of each place; undefined = none.
 * It leaves the heap as it was.
 */
export function scoreSequence(decoder: Decoder, ids: TokenIds, most?: number): TokenScores {
  const { kernels, heap, config, logitsWidth, head } = decoder;
  // What follows the last token is not scored; a head reads its state.
  const inputs = head ? ids : ids.slice(0, -1);
  const { mark } = heap;
  const rows = Math.max(1, Math.min(PORTION, inputs.length, Math.floor(MOST_LOGITS / logitsWidth)));
  const work = decoder.work(rows, 1, inputs.length);
  const cache = newCache(heap, config, inputs.length);
  const logits = heap.take(4 * rows * logitsWidth);
  const room = heap.take(4 * logitsWidth);
  const [logprobs, entropies] = [heap.take(4 * rows), heap.take(4 * rows)];
  const outputs = head ? heap.take(4 * rows * head.matrix.n) : 0;
  const places = most === undefined ? undefined : noPlaces();
  const scores: TokenScores = { logprobs: [], entropy: [], ...(head ? { heads: [] } : {}), ...places };
  readSequence(decoder, work, inputs, cache, 0, (first, count) => {
    if (head) scores.heads!.push(...decoder.heads(head, count, work, outputs));
    const targets = tokensOf(ids.slice(first + 1, first + 1 + count), config.vision);
    if (!targets.length) return;
    const { length } = targets;
    decoder.logits(length, work, logits);
    heap.integers(work.ids, length).set(targets);
    kernels.score(length, config.vocabSize, logitsWidth, logits, work.ids, logprobs, entropies, room);
    const own = heap.floats(logprobs, length);
    scores.logprobs.push(...own);
    scores.entropy.push(...heap.floats(entropies, length));
    if (places && most !== undefined)
      for (const [row, id] of targets.entries())
        addPlace(places, id, own[row]!, heap.floats(logits + 4 * row * logitsWidth, config.vocabSize), most);
  });
  heap.backTo(mark);
  return scores;
}
