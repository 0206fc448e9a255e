/** Implicit process reward model: cross-entropy of σ(β Σ log-ratio to a reference) against outcomes, as the mean over the step's sequences. */
import type { ImplicitPrmPart } from '../../../core/plan/training-plan.ts';
import { implicitReward } from '../../losses/implicit-reward.ts';
import * as tf from '../../tfjs.ts';
import { evenly, type PartKind, packed, sequencesOf, unitWeights } from './kind.ts';

export const implicitPrm: PartKind<ImplicitPrmPart> = {
  readout: 'logprobs',
  monitor: { name: 'accuracy', per: 'unit' },
  references: ({ reference }) => [reference],
  sequences: ({ items }) => items.map((item) => [item]),
  weights: ({ items, weight }, units) =>
    units.map((unit) => evenly(unit, (weight * (items[unit.item]!.weight ?? 1)) / units.length)),
  loss(part, slice) {
    const logprobs = slice.outputs[0] as tf.Tensor1D;
    const responses = {
      logprobs,
      reference: packed(slice.scores.map((score) => score.reference(part.reference))),
      mask: tf.onesLike(logprobs),
      sequences: sequencesOf(slice.units),
    };
    const outcomes = tf.tensor1d(slice.units.map(({ item }) => part.items[item]!.outcome));
    const targets = { outcomes, sequenceWeights: unitWeights(slice) };
    const { loss, logits } = implicitReward(responses, targets, part);
    const agree = tf.equal(tf.greater(logits, 0), tf.greater(outcomes, 0.5));
    return { loss, counted: tf.sum(tf.cast(agree, 'float32')) };
  },
};
