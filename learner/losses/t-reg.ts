/**
 * Token-level reward regularisation (Zhou et al., "T-REG", arXiv:2412.02685): DPO, and beside it a term that makes a token likelier or
 * less likely by its own reward, in both responses of a pair. It weighs as much as the pair still does in DPO's own gradient.
 */
import * as tf from '../tfjs.ts';
import { dpo } from './dpo.ts';
import { beyondOffset, type PairLoss, type Pairs, reducePairs, type ScoredResponses } from './pairs.ts';
import { sumPerSequence } from './sequences.ts';
import { masked } from './tokens.ts';

export interface RewardedResponses extends ScoredResponses {
  /** The reward of each token [T]. */
  readonly tokenRewards: tf.Tensor1D;
}

export interface TRegOptions {
  readonly beta: number;
  /** Weight of the token term; 0.1 to 0.5 in the paper. */
  readonly alpha: number;
}

/**
 * DPO's loss of each pair − α·w·β·Σ reward·log π over the tokens of both responses. w = σ(offset − β·margin) falls as the pair is told
 * apart; no gradient flows through it.
 */
export function tReg(responses: RewardedResponses, pairs: Pairs, { beta, alpha }: TRegOptions): PairLoss {
  const { perPair, margins } = dpo(responses, pairs, { beta });
  const { logprobs, mask, tokenRewards, sequences } = responses;
  const rewarded: tf.Tensor1D = tf.mul(masked(logprobs, mask), masked(tokenRewards, mask));
  const perResponse = sumPerSequence(rewarded, sequences);
  const both = tf.add(tf.gather(perResponse, pairs.chosen), tf.gather(perResponse, pairs.rejected));
  const weight = tf.stopGradient(tf.sigmoid(tf.neg(beyondOffset(margins, beta, pairs))));
  const term = tf.mul(tf.mul(weight, both), -alpha * beta);
  return reducePairs(tf.add(perPair, term), margins, pairs);
}
