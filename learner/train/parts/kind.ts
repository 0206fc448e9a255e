/**
 * The interface of a kind of training part. A kind says which sequences it trains and keeps together, which scores it needs beforehand,
 * how much each sequence weighs in a step, and its loss. Each kind is one file; all other training code is the same for all kinds.
 */
import { wrongInput } from '../../../core/errors.ts';
import type { Sequence, TeacherRef, UpdatePart, WeightsRef } from '../../../core/plan/training-plan.ts';
import type { Sequences } from '../../losses/sequences.ts';
import * as tf from '../../tfjs.ts';
import type { Model, Readout } from '../readouts.ts';

/** The smallest piece of data that is shuffled and dealt to steps: one sequence, or the two of a pair. */
export interface Unit {
  readonly part: UpdatePart;
  /** Its index in the part's items or pairs. */
  readonly item: number;
  readonly sequences: readonly Sequence[];
}

/** Weights of a unit in the loss of its step, with the part's weight multiplied in. */
export interface UnitWeights {
  /** Weight of each scored token, sequence after sequence. */
  readonly tokens: readonly number[];
  /** Weight of the unit as a whole, for losses of sequences and pairs. */
  readonly unit: number;
}

/** Log-probabilities and entropies of a unit before the first update, nats, each [scored tokens]. */
export interface UnitScores {
  /** Under the set that is trained. Present only where the kind asks for it. */
  readonly own?: { readonly logprobs: Float32Array; readonly entropy: Float32Array };
  reference(ref: WeightsRef): Float32Array;
  /** What the unit's teacher gives for it. Present only where the kind asks for one. */
  readonly teacher?: TeacherScores;
}

/** A teacher's hidden states at a unit's scored tokens, from which its distributions are computed when they are needed. */
export interface TeacherScores {
  /** [scored tokens · width], in host memory. */
  readonly states: Float32Array;
  /** The teacher's output projection [vocabulary, width], as it was before the first update. It belongs to the round's scores. */
  readonly output: tf.Tensor2D;
}

/** Consecutive units of one part in a micro-batch. T is the number of their scored tokens, S that of their sequences. */
export interface PartSlice {
  readonly units: readonly Unit[];
  readonly weights: readonly UnitWeights[];
  readonly scores: readonly UnitScores[];
  /** The model that is trained; absent where a server has it, and then no kind is asked for that needs it. */
  readonly model?: Model;
  /** The readout's tensors, which carry gradients. Rows are tokens [T, …], or sequences [S, …] for `classes`. */
  readonly outputs: readonly tf.Tensor[];
}

export interface PartLoss {
  readonly loss: tf.Scalar;
  /** Number of tokens or units that the kind's monitor counts, see PartKind.monitor; 0 where the kind has no monitor. */
  readonly counted: tf.Scalar;
}

export interface PartKind<P extends UpdatePart = UpdatePart> {
  readonly readout: Readout;
  /** A share that is reported: its name, and whether it is a share of tokens or of units. */
  readonly monitor?: {
    readonly name: 'clipFraction' | 'accuracy';
    readonly per: 'token' | 'unit';
  };
  /** The part's sequences, grouped by unit: those of one unit stay together. Throws `wrong-input` for items that do not fit. */
  sequences(part: P): readonly (readonly Sequence[])[];
  /** The units' weights in the loss of a step that has exactly these units of the part. */
  weights(part: P, units: readonly Unit[]): readonly UnitWeights[];
  loss(part: P, slice: PartSlice): PartLoss;
  /** The tokens of a unit that its monitor's share is taken of; default all that are scored. */
  countedTokens?(part: P, unit: Unit): number;
  /** Whether log-probabilities and entropies under the trained set are needed. */
  readonly ownScores?: boolean;
  /** Frozen weights under which the part's sequences are scored beforehand; `set` is the one that is trained. */
  references?(part: P, set: string): readonly WeightsRef[];
  /** The teacher of the part, and the unit's sequences as the teacher reads them: the same scored tokens after prompts of its own. */
  teacher?(part: P): { readonly ref: TeacherRef; sequencesOf(unit: Unit): readonly Sequence[] };
}

export const scoredTokens = ({ sequences }: Unit): number =>
  sequences.reduce((sum, { ids }) => sum + ids.length, 0);

export const sumOf = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((sum, item) => sum + value(item), 0);

/** Gives every scored token of a unit, and the unit itself, the same weight. */
export const evenly = (unit: Unit, weight: number): UnitWeights => ({
  tokens: new Array<number>(scoredTokens(unit)).fill(weight),
  unit: weight,
});

/** Concatenates rows of numbers: float32 [sum of lengths]. */
export const packed = (rows: readonly ArrayLike<number>[]): tf.Tensor1D =>
  tf.tensor1d(
    rows.flatMap((row) => Array.from(row)),
    'float32',
  );

/** Concatenates arrays of numbers that are large. */
export function joined(arrays: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(sumOf(arrays, ({ length }) => length));
  let at = 0;
  for (const array of arrays) {
    all.set(array, at);
    at += array.length;
  }
  return all;
}

export const tokenWeights = ({ weights }: PartSlice): tf.Tensor1D =>
  packed(weights.map(({ tokens }) => tokens));

export const unitWeights = ({ weights }: PartSlice): tf.Tensor1D =>
  tf.tensor1d(weights.map(({ unit }) => unit));

/** The index of the sequence that each scored token belongs to. */
export function sequencesOf(units: readonly Unit[]): Sequences {
  const sequences = units.flatMap((unit) => unit.sequences);
  const index = sequences.flatMap(({ ids }, s) => new Array<number>(ids.length).fill(s));
  return { index: tf.tensor1d(index, 'int32'), count: sequences.length };
}

/** Throws `wrong-input` unless an item has exactly one number for each token. */
export function expectPerToken(
  what: string,
  item: number,
  numbers: readonly number[],
  { ids }: Sequence,
): void {
  if (numbers.length !== ids.length)
    throw wrongInput(
      'training-plan.length',
      `Item ${item} has ${numbers.length} ${what} for ${ids.length} tokens.`,
      {
        expected: 'one a token',
      },
    );
}
