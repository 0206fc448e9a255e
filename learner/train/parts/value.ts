/** Value part: regression of the value head before each token of a completion. The loss is the mean of ½·error² over the step's tokens. */
import type { ValuePart } from '../../../core/training-plan.ts';
import { valueLoss } from '../../losses/value.ts';
import * as tf from '../../tfjs.ts';
import { evenly, expectPerToken, type PartKind, packed, scoredTokens, sumOf, tokenWeights } from './kind.ts';

export const value: PartKind<ValuePart> = {
  readout: 'values',
  sequences: ({ items }) =>
    items.map((item, i) => {
      expectPerToken('targets', i, item.targets, item);
      return [item];
    }),
  weights({ weight }, units) {
    const total = sumOf(units, scoredTokens);
    return units.map((unit) => evenly(unit, weight / total));
  },
  loss(part, slice) {
    const values = slice.outputs[0] as tf.Tensor1D;
    const targets = packed(slice.units.map(({ item }) => part.items[item]!.targets));
    return { loss: valueLoss({ values, targets, weights: tokenWeights(slice) }).loss, counted: tf.scalar(0) };
  },
};
