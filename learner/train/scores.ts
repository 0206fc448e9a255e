/**
 * Scores before the round's first update: log-probabilities and entropies under the sets that are about to be trained, and
 * log-probabilities under frozen references. They serve as the old policy of importance ratios, the reference of KL terms and preference
 * losses, the correction of stale samples, and the figures of the report. For distillation they are the teacher's hidden states.
 */
import { wrongInput } from '../../core/errors.ts';
import type { Sequence, TeacherRef, WeightsRef } from '../../core/plan/training-plan.ts';
import { outputWeight } from '../nn/model.ts';
import { copyOf } from '../ops/in-place.ts';
import * as tf from '../tfjs.ts';
import { groupByTokens, microBatches, sequenceTokens, temperatureOf } from './minibatches.ts';
import { allReferences, kindOfPart } from './parts/index.ts';
import { joined, scoredTokens, type TeacherScores, type Unit, type UnitScores } from './parts/kind.ts';
import { type Model, pack, type Readout, readOut } from './readouts.ts';

/** Finds the model that a reference names. The caller must not dispose it. */
export type FindModel = (ref: TeacherRef) => Promise<Model>;

/** Cuts concatenated numbers into runs of the given lengths. */
export function cut(numbers: Float32Array, lengths: readonly number[]): Float32Array[] {
  let at = 0;
  return lengths.map((length) => {
    at += length;
    return numbers.slice(at - length, at);
  });
}

/** Computes a readout of some sequences without gradients, and returns the values of each of its tensors. */
export async function read(
  model: Model,
  sequences: readonly Sequence[],
  readout: Readout,
  temperature = 1,
): Promise<Float32Array[]> {
  const tensors = tf.tidy(() => readOut(model, pack(sequences), readout, { temperature }));
  const numbers = await Promise.all(tensors.map((tensor) => tensor.data()));
  tf.dispose(tensors);
  return numbers as Float32Array[];
}

/** Like `read`, in batches within a budget of tokens; for each sequence it returns its rows of each tensor. */
export async function readEach(
  model: Model,
  sequences: readonly Sequence[],
  readout: Readout,
  tokenBudget: number,
): Promise<Float32Array[][]> {
  const out: Float32Array[][] = [];
  for (const batch of groupByTokens(sequences, tokenBudget, sequenceTokens)) {
    const tensors = await read(model, batch, readout);
    // `classes` has one row for each sequence, every other readout one for each token.
    const rows = batch.map(({ ids }) => (readout === 'classes' ? 1 : ids.length));
    const total = rows.reduce((sum, count) => sum + count, 0);
    const each = tensors.map((numbers) =>
      cut(
        numbers,
        rows.map((count) => (total ? (count * numbers.length) / total : 0)),
      ),
    );
    out.push(...batch.map((_, i) => each.map((rows) => rows[i]!)));
  }
  return out;
}

const refKey = ({ set, version, policy }: TeacherRef): string =>
  `${policy === undefined ? '' : `${policy}/`}${set}/${version}`;

/** Throws `training-plan.length` where a sequence, with the teacher's prompt, is longer than what the teacher can read. */
function expectRoom(ref: TeacherRef, { params }: Model, sequences: readonly Sequence[]): void {
  const most = params.config.maxPositions;
  const long = sequences.find((sequence) => sequenceTokens(sequence) > most);
  if (!long) return;
  throw wrongInput(
    'training-plan.length',
    `The teacher ${refKey(ref)} would read ${long.prompt.length} tokens of a prompt and ${long.ids.length} of an answer.`,
    {
      expected: `at most ${most} tokens together, its max_position_embeddings`,
      next: 'Give it a shorter prompt, leave the item out, or choose a teacher with more positions.',
    },
  );
}

/** The scores of a round's units, kept in host memory; the output projections of teachers are kept on the device until `dispose`. */
export class RoundScores {
  readonly #own = new Map<Unit, NonNullable<UnitScores['own']>>();
  readonly #references = new Map<Unit, Map<string, Float32Array>>();
  readonly #taught = new Map<Unit, TeacherScores>();
  readonly #outputs = new Map<string, tf.Tensor2D>();
  readonly #tokenBudget: number;
  readonly #find: FindModel;

  constructor(tokenBudget: number, find: FindModel) {
    this.#tokenBudget = tokenBudget;
    this.#find = find;
  }

  /** Scores units of one set under its own weights and under every reference that their parts ask for; `references` says which. */
  async add(set: string, model: Model, units: readonly Unit[], references = allReferences): Promise<void> {
    const own = units.filter(({ part }) => kindOfPart(part).ownScores);
    await this.#pass(model, own, (unit, logprobs, entropy) => this.#own.set(unit, { logprobs, entropy }));
    const refsOf = ({ part }: Unit) => references(part, set);
    const refs = new Map(units.flatMap(refsOf).map((ref) => [refKey(ref), ref]));
    for (const [key, ref] of refs) {
      const wanting = units.filter((unit) => refsOf(unit).some((other) => refKey(other) === key));
      await this.#pass(await this.#find(ref), wanting, (unit, logprobs) => {
        if (!this.#references.has(unit)) this.#references.set(unit, new Map());
        this.#references.get(unit)!.set(key, logprobs);
      });
    }
    for (const part of new Set(units.map((unit) => unit.part))) {
      const teacher = kindOfPart(part).teacher?.(part);
      if (teacher)
        await this.#teach(
          teacher,
          units.filter((unit) => unit.part === part),
        );
    }
  }

  /** Computes the teacher's hidden states for some units, as a copy of its own weights: they may be those that are about to be trained. */
  async #teach(
    { ref, sequencesOf }: { readonly ref: TeacherRef; sequencesOf(unit: Unit): readonly Sequence[] },
    units: readonly Unit[],
  ): Promise<void> {
    const model = await this.#find(ref);
    const sequences = units.map((unit) => sequencesOf(unit));
    expectRoom(ref, model, sequences.flat());
    const key = refKey(ref);
    const output = this.#outputs.get(key) ?? (copyOf(outputWeight(model.params)) as tf.Tensor2D);
    this.#outputs.set(key, output);
    const states = await readEach(model, sequences.flat(), 'states', this.#tokenBudget);
    let at = 0;
    for (const [i, unit] of units.entries()) {
      const mine = states.slice(at, at + sequences[i]!.length).map(([rows]) => rows!);
      at += mine.length;
      this.#taught.set(unit, { states: joined(mine), output });
    }
  }

  dispose(): void {
    tf.dispose([...this.#outputs.values()]);
    this.#outputs.clear();
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
    const teacher = this.#taught.get(unit);
    return { ...(own ? { own } : {}), reference, ...(teacher ? { teacher } : {}) };
  }
}
