/**
 * What a kind of training part is: which sequences it trains and keeps together, what it must know beforehand, how much each of
 * them counts in a step, and its loss. One file a kind; everything else about training is the same for all of them.
 */
import { wrongInput } from '../../../core/errors.ts';
import type { Sequence, UpdatePart, WeightsRef } from '../../../core/training-plan.ts';
import type { Sequences } from '../../losses/sequences.ts';
import * as tf from '../../tfjs.ts';
import type { Readout } from '../readouts.ts';

/** The smallest thing that is shuffled and dealt to steps: one sequence, or the two of a pair. */
export interface Unit {
  readonly part: UpdatePart;
  /** Its place in the part's items or pairs. */
  readonly item: number;
  readonly sequences: readonly Sequence[];
}

/** Share of a unit in the loss of its step, the part's weight included. */
export interface UnitWeights {
  /** Of each scored token, sequence after sequence. */
  readonly tokens: readonly number[];
  /** Of the unit as a whole, for losses of sequences and pairs. */
  readonly unit: number;
}

/** What was computed about a unit before the first update, nats, each [scored tokens]. */
export interface UnitScores {
  /** Under the set that is trained. Only where the kind asks for it. */
  readonly own?: { readonly logprobs: Float32Array; readonly entropy: Float32Array };
  reference(ref: WeightsRef): Float32Array;
}

/** Consecutive units of one part in a micro-batch. T = their scored tokens, S = their sequences. */
export interface PartSlice {
  readonly units: readonly Unit[];
  readonly weights: readonly UnitWeights[];
  readonly scores: readonly UnitScores[];
  /** The readout's tensors, with their gradients: rows are tokens [T, …], or sequences [S, …] for `classes`. */
  readonly outputs: readonly tf.Tensor[];
}

export interface PartLoss {
  readonly loss: tf.Scalar;
  /** How many tokens or units the kind's monitor counts, see PartKind.monitor; 0 where there is none. */
  readonly counted: tf.Scalar;
}

export interface PartKind<P extends UpdatePart = UpdatePart> {
  readonly readout: Readout;
  /** A share that is watched: which name it has, and of what it is a share. */
  readonly monitor?: {
    readonly name: 'clipFraction' | 'accuracy';
    readonly per: 'token' | 'unit';
  };
  /** The part's sequences, grouped as they must stay together. Throws `wrong-input` for items that do not fit. */
  sequences(part: P): readonly (readonly Sequence[])[];
  /** Weights in the loss of a step that has these units of the part. */
  weights(part: P, units: readonly Unit[]): readonly UnitWeights[];
  loss(part: P, slice: PartSlice): PartLoss;
  /** Whether log-probabilities and entropies under the trained set are needed. */
  readonly ownScores?: boolean;
  /** Frozen weights under which the part's sequences are scored beforehand; `set` is the one that is trained. */
  references?(part: P, set: string): readonly WeightsRef[];
}

export const scoredTokens = ({ sequences }: Unit): number =>
  sequences.reduce((sum, { ids }) => sum + ids.length, 0);

export const sumOf = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((sum, item) => sum + value(item), 0);

/** The same weight for every scored token of a unit, and for the unit. */
export const evenly = (unit: Unit, weight: number): UnitWeights => ({
  tokens: new Array<number>(scoredTokens(unit)).fill(weight),
  unit: weight,
});

/** Numbers of units laid end to end: float32 [sum of lengths]. */
export const packed = (rows: readonly ArrayLike<number>[]): tf.Tensor1D =>
  tf.tensor1d(
    rows.flatMap((row) => Array.from(row)),
    'float32',
  );

export const tokenWeights = ({ weights }: PartSlice): tf.Tensor1D =>
  packed(weights.map(({ tokens }) => tokens));

export const unitWeights = ({ weights }: PartSlice): tf.Tensor1D =>
  tf.tensor1d(weights.map(({ unit }) => unit));

/** Which sequence each scored token is in. */
export function sequencesOf(units: readonly Unit[]): Sequences {
  const sequences = units.flatMap((unit) => unit.sequences);
  const index = sequences.flatMap(({ ids }, s) => new Array<number>(ids.length).fill(s));
  return { index: tf.tensor1d(index, 'int32'), count: sequences.length };
}

/** Throws `wrong-input` where an item's numbers do not match its tokens one by one. */
export function expectPerToken(
  what: string,
  item: number,
  numbers: readonly number[],
  { ids }: Sequence,
): void {
  if (numbers.length !== ids.length)
    throw wrongInput(
      'training plan.length',
      `Item ${item} has ${numbers.length} ${what} for ${ids.length} tokens.`,
      {
        expected: 'one a token',
      },
    );
}
