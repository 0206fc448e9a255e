/** Classification part: cross-entropy of the class head after the last token of a completion, as the mean over the step's sequences. */
import { wrongInput } from '../../../core/errors.ts';
import type { ClassificationPart } from '../../../core/plan/training-plan.ts';
import { classHead } from '../../losses/class-head.ts';
import * as tf from '../../tfjs.ts';
import { evenly, type PartKind, unitWeights } from './kind.ts';

export const classification: PartKind<ClassificationPart> = {
  readout: 'classes',
  monitor: { name: 'accuracy', per: 'unit' },
  sequences: ({ items }) => items.map((item) => [item]),
  weights: ({ weight }, units) => units.map((unit) => evenly(unit, weight / units.length)),
  loss({ items }, slice) {
    const logits = slice.outputs[0] as tf.Tensor2D;
    const named = slice.units.map(({ item }) => items[item]!.label);
    const classes = logits.shape[1];
    const unknown = named.find((index) => !Number.isInteger(index) || index < 0 || index >= classes);
    if (unknown !== undefined)
      throw wrongInput('training-plan.label', `A sequence has the label ${unknown}.`, {
        expected: `a class from 0 to ${classes - 1}, as the set's head has them`,
      });
    const labels = tf.tensor1d(named, 'int32');
    const { loss } = classHead({ logits, labels, weights: unitWeights(slice) });
    const right = tf.equal(tf.cast(tf.argMax(logits, 1), 'int32'), labels);
    return { loss, counted: tf.sum(tf.cast(right, 'float32')) };
  },
};
