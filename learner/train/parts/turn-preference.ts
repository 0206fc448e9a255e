/** Turn preference part: pairs of trajectories by the sums of their turns' log-ratios to a frozen reference, as the mean over the step's pairs. A pair is never split. */
import { wrongInput } from '../../../core/errors.ts';
import type { Trajectory, TurnPreferencePart } from '../../../core/plan/training-plan.ts';
import type { Pairs } from '../../losses/pairs.ts';
import { turnBradleyTerry } from '../../losses/turn-bradley-terry.ts';
import * as tf from '../../tfjs.ts';
import { evenly, type PartKind, packed, sequencesOf, unitWeights } from './kind.ts';

export const turnPreference: PartKind<TurnPreferencePart> = {
  readout: 'logprobs',
  monitor: { name: 'accuracy', per: 'unit' },
  references: ({ reference }) => [reference],
  sequences: ({ pairs }) =>
    pairs.map(({ chosen, rejected }, i) => {
      expectTurns('chosen', i, chosen);
      expectTurns('rejected', i, rejected);
      return [...chosen, ...rejected];
    }),
  weights: ({ weight }, units) => units.map((unit) => evenly(unit, weight / units.length)),
  loss({ pairs, reference, beta, level = 'mean' }, slice) {
    const logprobs = slice.outputs[0] as tf.Tensor1D;
    const turns = {
      logprobs,
      mask: tf.onesLike(logprobs),
      reference: packed(slice.scores.map((scores) => scores.reference(reference))),
      sequences: sequencesOf(slice.units),
    };
    // Trajectory 2u is the chosen one of unit u, and 2u + 1 the rejected one.
    const trajectoryOf = slice.units.flatMap(({ item, sequences }, u) =>
      sequences.map((_, t) => 2 * u + Number(t >= pairs[item]!.chosen.length)),
    );
    const indices = (values: readonly number[]) => tf.tensor1d([...values], 'int32');
    const trajectories = { index: indices(trajectoryOf), count: 2 * slice.units.length };
    const compared: Pairs = {
      chosen: indices(slice.units.map((_, u) => 2 * u)),
      rejected: indices(slice.units.map((_, u) => 2 * u + 1)),
      pairWeights: unitWeights(slice),
    };
    const { loss, margins } = turnBradleyTerry(turns, trajectories, compared, { beta, level });
    return { loss, counted: tf.sum(tf.cast(tf.greater(margins, 0), 'float32')) };
  },
};

function expectTurns(which: string, pair: number, turns: Trajectory): void {
  if (turns.length) return;
  throw wrongInput('training-plan.turns', `The ${which} trajectory of pair ${pair} has no turns.`, {
    expected: 'at least one turn in each of the two',
    next: 'Leave the pair out.',
  });
}
