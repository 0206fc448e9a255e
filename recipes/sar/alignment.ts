/** How much more likely an answer is with its question than without it: the self-aligned reward. Pure functions over log-probabilities in nats. */
import { mean } from '../../core/rl/statistics.ts';
import type { Numbers } from '../../core/rl/types.ts';

/** exp(−mean log-probability) of a text's tokens [tokens], at least one. */
export const perplexity = (logprobs: Numbers): number => Math.exp(-mean(Array.from(logprobs)));

/**
 * (ppl(a) − ppl(a|q)) / ppl(a), clipped to [-1, 1]: near 1 where the question makes the answer much more likely, 0 where it makes no difference,
 * and below 0 where it makes the answer less likely.
 */
export function selfAlignment(withQuestion: Numbers, without: Numbers): number {
  const alone = perplexity(without);
  return Math.min(1, Math.max(-1, (alone - perplexity(withQuestion)) / alone));
}
