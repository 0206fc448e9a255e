/** A stream is gone through: every set of layers that was named for a document is tried, and the best one takes it in. */
import type { LearnTools, PreferencePair, RoundRecords, TrialUpdate } from '../../core/plan/training-plan.ts';
import { bestAgainstWorst } from '../../core/rl/selection/index.ts';
import { present } from '../../core/rl/statistics.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { parseLayers } from '../../worlds/documents/streams.ts';
import { type Forgetting, known, type Told, takenIn, worthOf } from './taking-in.ts';

/** The layers that a sample names; null where it names none. Equal sets are one object. */
export function namedBy({ ids }: Pick<Sample, 'ids'>, { decode }: Pick<LearnTools, 'decode'>) {
  const parsed = parseLayers(decode(ids));
  return parsed.ok ? parsed.value : null;
}

const forgettingOf = (variant: string | undefined): Forgetting => {
  if (variant === 'gain-alone') return 'none';
  return variant === 'mean-loss' ? 'mean' : 'sum';
};

/** What became of a stream. */
export interface Walked {
  readonly pairs: readonly PreferencePair[];
  /** What the samples that name layers are worth. */
  readonly worths: readonly number[];
  /** What was known of each document when it had just been taken in [documents taken in]. */
  readonly atOnce: readonly number[];
  /** What is known of each document at the end [documents]. */
  readonly kept: readonly number[];
}

export async function walk(
  { settings: { rewardFunction, variant } }: RoundRecords['round'],
  stream: readonly Told[],
  tools: LearnTools,
): Promise<Walked> {
  let updates: readonly TrialUpdate[] = [];
  let now = await known(stream, updates, tools);
  const walked = { pairs: [] as PreferencePair[], worths: [] as number[], atOnce: [] as number[] };
  for (const [at, told] of stream.entries()) {
    const { samples } = told.group;
    const named = samples.map((sample) => namedBy(sample, tools));
    const tried = new Map<readonly number[], { updates: readonly TrialUpdate[]; known: number[] }>();
    const afterUpdate = async (layers: readonly number[]) => {
      const taken = [...updates, takenIn(told, layers, tools)];
      const after = tried.get(layers) ?? { updates: taken, known: await known(stream, taken, tools) };
      tried.set(layers, after);
      return after;
    };
    const worths: (number | null)[] = [];
    for (const [s, layers] of named.entries()) {
      if (layers === null) worths.push(null);
      else if (rewardFunction !== 'kept') worths.push(samples[s]!.rewards.reward ?? null);
      else worths.push(worthOf(now, (await afterUpdate(layers)).known, at, forgettingOf(variant)));
    }
    const valid = present(worths);
    if (!valid.length) continue;
    // An answer that names no layers is worth less than any that does.
    const scores = worths.map((worth) => worth ?? Math.min(...valid) - 1);
    const pair = bestAgainstWorst(scores);
    const sequence = ({ prompt, ids }: Sample) => ({ prompt, ids });
    if (pair)
      walked.pairs.push({
        chosen: sequence(samples[pair.chosen]!),
        rejected: sequence(samples[pair.rejected]!),
      });
    const after = await afterUpdate(named[scores.indexOf(Math.max(...valid))]!);
    ({ updates, known: now } = after);
    walked.worths.push(...valid);
    walked.atOnce.push(now[at]!);
  }
  return { ...walked, kept: now };
}

/** What is known at the end of a stream whose documents are taken in by these layers; null: not at all. */
export const keptBy = (
  stream: readonly Told[],
  layersOf: (told: Told) => readonly number[] | null,
  tools: LearnTools,
): Promise<number[]> =>
  known(
    stream,
    stream.flatMap((told) => {
      const layers = layersOf(told);
      return layers ? [takenIn(told, layers, tools)] : [];
    }),
    tools,
  );
