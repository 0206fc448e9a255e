/** What a policy says of a given sequence, as a group's record keeps it. */
import * as v from 'valibot';
import { finite } from './numbers.ts';

const numbers = v.array(finite);

export const measurement = v.object({
  /** Log-probabilities (nats) of the measured tokens at temperature 1, [ids]. */
  logProbabilities: numbers,
  /** Entropies (nats) of the distributions before them, [ids]. */
  entropies: numbers,
  /** The value before each token, [ids], as `LearnTools.values` has it; absent where the set has no value head. */
  values: v.exactOptional(numbers),
  /**
   * Logits of the set's classes after each of the `ends` that were asked for, [ends][classes]; absent where it has no class head. They are what the engine
   * gives, bit by bit; `softmax` of core/same-exp.ts makes probabilities of them that are the same in every program.
   */
  classes: v.exactOptional(v.array(numbers)),
});
export type Measurement = v.InferOutput<typeof measurement>;

/** Measurements by `measurementKey`. */
export const measurements = v.record(v.string(), measurement);
export type Measurements = v.InferOutput<typeof measurements>;
