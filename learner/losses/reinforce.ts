/** The plain policy gradient (REINFORCE, Williams 1992; GPG, Chu et al. 2025, differs in its advantages only): no ratio, no clip. */
import * as tf from '../tfjs.ts';
import { masked, type PolicyTokens, reduce, type TokenLoss } from './tokens.ts';

/** ℓ = −A·log π per token. */
export function reinforce(tokens: Omit<PolicyTokens, 'oldLogprobs'>): TokenLoss {
  const { weights } = tokens;
  return reduce(tf.neg(tf.mul(masked(tokens.advantages, weights), masked(tokens.logprobs, weights))), tokens);
}
