/** Reward pairs part: the Bradley-Terry loss of a class head's scores after the last tokens of two answers, as the mean over the step's pairs. */
import { wrongInput } from '../../../core/errors.ts';
import type { RewardPairsPart } from '../../../core/plan/training-plan.ts';
import { negativeLogSigmoid, type Pairs, pairMargins, reducePairs } from '../../losses/pairs.ts';
import * as tf from '../../tfjs.ts';
import { evenly, type PartKind, unitWeights } from './kind.ts';

export const rewardPairs: PartKind<RewardPairsPart> = {
  readout: 'classes',
  monitor: { name: 'accuracy', per: 'unit' },
  sequences: ({ pairs }) => pairs.map(({ chosen, rejected }) => [chosen, rejected]),
  weights: ({ weight }, units) => units.map((unit) => evenly(unit, weight / units.length)),
  loss(_, slice) {
    const logits = slice.outputs[0] as tf.Tensor2D;
    if (logits.shape[1] !== 2)
      throw wrongInput('training-plan.head', `The set's class head has ${logits.shape[1]} classes.`, {
        expected: '2: the score of an answer is the log-odds of the second',
      });
    const scores: tf.Tensor1D = tf.sum(tf.mul(logits, tf.tensor2d([[-1, 1]])), 1);
    const indices = (offset: number) =>
      tf.tensor1d(
        slice.units.map((_, i) => 2 * i + offset),
        'int32',
      );
    const pairs: Pairs = { chosen: indices(0), rejected: indices(1), pairWeights: unitWeights(slice) };
    const margins = pairMargins(scores, pairs);
    const { loss } = reducePairs(negativeLogSigmoid(margins), margins, pairs);
    return { loss, counted: tf.sum(tf.cast(tf.greater(margins, 0), 'float32')) };
  },
};
