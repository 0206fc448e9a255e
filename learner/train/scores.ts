/**
 * What is known before the round's first update: log-probabilities and entropies under the sets that are about to be trained, and
 * log-probabilities under frozen references. Ratios are taken against them; they give KL terms and preference losses their
 * reference, stale samples their correction, and the report its figures.
 */
import type { Sequence, WeightsRef } from '../../core/training-plan.ts';
import * as tf from '../tfjs.ts';
import { groupByTokens, microBatches, sequenceTokens, temperatureOf } from './minibatches.ts';
import { kindOfPart } from './parts/index.ts';
import { scoredTokens, type Unit, type UnitScores } from './parts/kind.ts';
import { type Model, pack, type Readout, readOut } from './readouts.ts';

/** Gives the model that a reference names; it stays the giver's. */
export type FindModel = (ref: WeightsRef) => Promise<Model>;

/** Cuts numbers of things laid end to end into rows of the given lengths. */
export function cut(numbers: Float32Array, lengths: readonly number[]): Float32Array[] {
  let at = 0;
  return lengths.map((length) => {
    at += length;
    return numbers.slice(at - length, at);
  });
}

/** A readout of some sequences, without gradients: for each of its tensors the numbers of all rows. */
export async function read(
  model: Model,
  sequences: readonly Sequence[],
  readout: Readout,
  temperature = 1,
): Promise<Float32Array[]> {
  const tensors = tf.tidy(() => readOut(model, pack(sequences), readout, temperature));
  const numbers = await Promise.all(tensors.map((tensor) => tensor.data()));
  tf.dispose(tensors);
  return numbers as Float32Array[];
}

/** The same within a budget of tokens, row by row of each sequence: for each sequence its rows of each tensor. */
export async function readEach(
  model: Model,
  sequences: readonly Sequence[],
  readout: Readout,
  tokenBudget: number,
): Promise<Float32Array[][]> {
  const out: Float32Array[][] = [];
  for (const batch of groupByTokens(sequences, tokenBudget, sequenceTokens)) {
    const tensors = await read(model, batch, readout);
    const each = tensors.map((numbers) =>
      // Classes have a row a sequence, everything else one a token.
      cut(
        numbers,
        batch.map(({ ids }) => (readout === 'classes' ? numbers.length / batch.length : ids.length)),
      ),
    );
    out.push(...batch.map((_, i) => each.map((rows) => rows[i]!)));
  }
  return out;
}

const refKey = ({ set, version }: WeightsRef): string => `${set}/${version}`;

/** Scores of the units of a round, kept on the host. */
export class RoundScores {
  readonly #own = new Map<Unit, NonNullable<UnitScores['own']>>();
  readonly #references = new Map<Unit, Map<string, Float32Array>>();
  readonly #tokenBudget: number;
  readonly #find: FindModel;

  constructor(tokenBudget: number, find: FindModel) {
    this.#tokenBudget = tokenBudget;
    this.#find = find;
  }

  /** Scores units of one set under its own weights and under every reference that their parts ask for. */
  async add(set: string, model: Model, units: readonly Unit[]): Promise<void> {
    const own = units.filter(({ part }) => kindOfPart(part).ownScores);
    await this.#pass(model, own, (unit, logprobs, entropy) => this.#own.set(unit, { logprobs, entropy }));
    const refsOf = ({ part }: Unit) => kindOfPart(part).references?.(part, set) ?? [];
    const refs = new Map(units.flatMap(refsOf).map((ref) => [refKey(ref), ref]));
    for (const [key, ref] of refs) {
      const wanting = units.filter((unit) => refsOf(unit).some((other) => refKey(other) === key));
      await this.#pass(await this.#find(ref), wanting, (unit, logprobs) => {
        if (!this.#references.has(unit)) this.#references.set(unit, new Map());
        this.#references.get(unit)!.set(key, logprobs);
      });
    }
  }

  async #pass(
    model: Model,
    units: readonly Unit[],
    keep: (unit: Unit, logprobs: Float32Array, entropy: Float32Array) => void,
  ): Promise<void> {
    for (const batch of microBatches(units, this.#tokenBudget)) {
      const sequences = batch.flatMap((unit) => unit.sequences);
      const [logprobs, entropy] = await read(model, sequences, 'logprobs', temperatureOf(batch[0]!.part));
      const lengths = batch.map(scoredTokens);
      const [mine, theirs] = [cut(logprobs!, lengths), cut(entropy!, lengths)];
      for (const [i, unit] of batch.entries()) keep(unit, mine[i]!, theirs[i]!);
    }
  }

  of(unit: Unit): UnitScores {
    const own = this.#own.get(unit);
    const reference = (ref: WeightsRef): Float32Array => {
      const scores = this.#references.get(unit)?.get(refKey(ref));
      if (!scores) throw new Error(`internal: ${refKey(ref)} was not scored before training.`);
      return scores;
    };
    return own ? { own, reference } : { reference };
  }
}
