/** Log-ratio part: regression of β·(Σ log π − a constant) on targets, as the mean over the step's sequences. */
import type { LogRatioPart } from '../../../core/plan/training-plan.ts';
import { logRatioRegression } from '../../losses/log-ratio.ts';
import * as tf from '../../tfjs.ts';
import { evenly, type PartKind, sequencesOf, unitWeights } from './kind.ts';

export const logRatio: PartKind<LogRatioPart> = {
  readout: 'logprobs',
  sequences: ({ items }) => items.map((item) => [item]),
  weights: ({ items, weight }, units) =>
    units.map((unit) => evenly(unit, (weight * (items[unit.item]!.weight ?? 1)) / units.length)),
  loss(part, slice) {
    const logprobs = slice.outputs[0] as tf.Tensor1D;
    const responses = { logprobs, mask: tf.onesLike(logprobs), sequences: sequencesOf(slice.units) };
    const targets = tf.tensor1d(slice.units.map(({ item }) => part.items[item]!.target));
    const { loss } = logRatioRegression(responses, { targets, sequenceWeights: unitWeights(slice) }, part);
    return { loss, counted: tf.scalar(0) };
  },
};
