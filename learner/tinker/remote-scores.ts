/** Log-probabilities of a round's units before its first step, as a server computes them: under the model that is trained, and under references. */
import type { WeightsRef } from '../../core/plan/training-plan.ts';
import { kindOfPart, lossReferences } from '../train/parts/index.ts';
import { joined, scoredTokens, type Unit, type UnitScores } from '../train/parts/kind.ts';
import { startOf } from '../train/parts/policy.ts';
import type { RoundScores } from '../train/scores.ts';
import type { RemoteModel } from './client.ts';
import { dataOf, scoredRows } from './mapping.ts';

const keyOf = ({ set, version }: WeightsRef): string => `${set}/${version}`;

const unmeasured = (unit: Unit) => new Float32Array(scoredTokens(unit)).fill(Number.NaN);

/** The log-probabilities of the units' scored tokens [units][scored tokens], nats. Nothing is trained. */
export async function remoteLogprobs(model: RemoteModel, units: readonly Unit[]): Promise<Float32Array[]> {
  if (!units.length) return [];
  const data = units.map((unit) => dataOf(unit, { weights: new Float32Array(scoredTokens(unit)) }));
  const { logprobs } = await model.forwardBackward('cross_entropy', data.flat(), { forwardOnly: true });
  let at = 0;
  return units.map(({ sequences }) => {
    const rows = logprobs.slice(at, at + sequences.length);
    at += sequences.length;
    return joined(scoredRows(sequences, rows));
  });
}

export class RemoteScores implements Pick<RoundScores, 'of'> {
  readonly #own = new Map<Unit, Float32Array>();
  readonly #references = new Map<Unit, Map<string, Float32Array>>();

  /** Scores units under the model that is about to be trained, and under the references that their losses read. `find` gives the model of one. */
  async add(
    set: string,
    model: RemoteModel,
    units: readonly Unit[],
    find: (ref: WeightsRef) => Promise<RemoteModel>,
  ): Promise<void> {
    const own = units.filter(({ part }) => kindOfPart(part).ownScores);
    for (const [i, logprobs] of (await remoteLogprobs(model, own)).entries())
      this.#own.set(own[i]!, logprobs);
    // The report's version 0 is not worth a pass over the samples here.
    const refsOf = ({ part }: Unit) => lossReferences(part, set);
    const refs = new Map(units.flatMap(refsOf).map((ref) => [keyOf(ref), ref]));
    for (const [key, ref] of refs) {
      const wanting = units.filter((unit) => refsOf(unit).some((other) => keyOf(other) === key));
      for (const [i, logprobs] of (await remoteLogprobs(await find(ref), wanting)).entries()) {
        const unit = wanting[i]!;
        this.#references.set(unit, (this.#references.get(unit) ?? new Map()).set(key, logprobs));
      }
    }
  }

  /** Entropies are not told, and the report's KL to version 0 is not measured: both are NaN. */
  of(unit: Unit): UnitScores {
    const logprobs = this.#own.get(unit);
    const reference = (ref: WeightsRef): Float32Array => {
      const scores = this.#references.get(unit)?.get(keyOf(ref));
      if (!scores && keyOf(ref) !== keyOf(startOf(ref.set)))
        throw new Error(`internal: ${keyOf(ref)} was not scored before training.`);
      return scores ?? unmeasured(unit);
    };
    return { ...(logprobs ? { own: { logprobs, entropy: unmeasured(unit) } } : {}), reference };
  }

  /** The log-probabilities before the first step, where they were asked for. */
  before(unit: Unit): Float32Array | undefined {
    return this.#own.get(unit);
  }
}
