/** Supervised fine-tuning part: negative log-likelihood of given completions, as the mean over the step's tokens. */
import type { SftPart } from '../../../core/plan/training-plan.ts';
import { nll } from '../../losses/nll.ts';
import * as tf from '../../tfjs.ts';
import { evenly, type PartKind, scoredTokens, sumOf, tokenWeights } from './kind.ts';

export const sft: PartKind<SftPart> = {
  readout: 'logprobs',
  sequences: ({ items }) => items.map((item) => [item]),
  weights({ items, weight }, units) {
    const total = sumOf(units, scoredTokens);
    return units.map((unit) => evenly(unit, (weight * (items[unit.item]!.weight ?? 1)) / total));
  },
  loss(_, slice) {
    const logprobs = slice.outputs[0] as tf.Tensor1D;
    return { loss: nll({ logprobs, weights: tokenWeights(slice) }).loss, counted: tf.scalar(0) };
  },
};
