/** How much more likely an answer is with its question than without: the self-aligned reward. Pure functions over log-probabilities in nats. */
import { mean } from '../../core/rl/statistics.ts';
import type { Numbers } from '../../core/rl/types.ts';

/** exp(−mean log-probability) of a text's tokens [tokens], at least one. */
export const perplexity = (logprobs: Numbers): number => Math.exp(-mean(Array.from(logprobs)));

/**
 * (ppl(a) − ppl(a|q)) / ppl(a), between -1 and 1: near 1 where the question makes the answer much more likely, 0 where it has nothing to do with
 * it, below 0 where it makes it less likely.
 */
export function selfAlignment(withQuestion: Numbers, without: Numbers): number {
  const alone = perplexity(without);
  return Math.min(1, Math.max(-1, (alone - perplexity(withQuestion)) / alone));
}
