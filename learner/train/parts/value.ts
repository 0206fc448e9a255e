/** Value part: regression of the value head before each token of a completion. The loss is the mean of ½·error², or of the expectile's loss, over the step's tokens. */
import { wrongInput } from '../../../core/errors.ts';
import type { ValuePart } from '../../../core/plan/training-plan.ts';
import { expectileLoss, valueLoss } from '../../losses/value.ts';
import * as tf from '../../tfjs.ts';
import { expectPerToken, type PartKind, packed, scoredTokens, sumOf, tokenWeights } from './kind.ts';

export const value: PartKind<ValuePart> = {
  readout: 'values',
  sequences(part) {
    expectExpectile(part);
    return part.items.map((item, i) => {
      expectPerToken('targets', i, item.targets, item);
      if (item.weights) expectPerToken('weights', i, item.weights, item);
      return [item];
    });
  },
  weights({ items, weight }, units) {
    const total = sumOf(units, scoredTokens);
    return units.map(({ item }) => {
      const { ids, weights } = items[item]!;
      return { tokens: ids.map((_, t) => (weight * (weights?.[t] ?? 1)) / total), unit: 0 };
    });
  },
  loss(part, slice) {
    const values = slice.outputs[0] as tf.Tensor1D;
    const targets = packed(slice.units.map(({ item }) => part.items[item]!.targets));
    const tokens = { values, targets, weights: tokenWeights(slice) };
    const { loss } = part.expectile === undefined ? valueLoss(tokens) : expectileLoss(tokens, part.expectile);
    return { loss, counted: tf.scalar(0) };
  },
};

function expectExpectile({ expectile }: ValuePart): void {
  if (expectile === undefined || (expectile > 0 && expectile < 1)) return;
  throw wrongInput('training-plan.expectile', `A value part has the expectile ${expectile}.`, {
    expected: 'a number between 0 and 1, both excluded',
    next: 'For the mean leave it out.',
  });
}
