/** How a document is taken in by some layers, what the policy then knows of a stream, and what that is worth. */
import type { LearnTools, Sequence, TrialUpdate } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { sftPart } from '../../protocols/objectives.ts';
import { numbersOf, STREAM, tellings } from '../../worlds/documents/streams.ts';

export const UPDATER = 'updater';

/** Orders of a document that its update trains on, and others by which it is asked for. */
const TAUGHT = 4;
const ASKED = 2;
/** Steps of an update, each over all orders. */
const STEPS = 10;
/** The rate of an update. */
const RATE = 3e-3;

/** How the losses of earlier documents count: their sum, their mean, or not at all. */
export type Forgetting = 'sum' | 'mean' | 'none';

/** A document of a stream. */
export interface Told {
  readonly group: ScoredGroup;
  readonly taught: readonly string[];
  readonly asked: readonly string[];
}

/** The round's groups as streams, in order; a group that is missing leaves its stream shorter. */
export function streamsOf(groups: readonly ScoredGroup[]): Told[][] {
  const streams = new Map<number, Told[]>();
  for (const group of groups) {
    const orders = tellings(new Random(`told/${group.group}`), group.task, TAUGHT + ASKED);
    const stream = streams.get(Math.floor(group.index / STREAM)) ?? [];
    stream.push({ group, taught: orders.slice(0, TAUGHT), asked: orders.slice(TAUGHT) });
    streams.set(Math.floor(group.index / STREAM), stream);
  }
  return [...streams.values()];
}

/** The update by which some layers take a document in: its facts are predicted in several orders. */
export function takenIn(
  { taught }: Told,
  layers: readonly number[],
  { encode }: Pick<LearnTools, 'encode'>,
): TrialUpdate {
  const items = taught.map((telling): Sequence => {
    const ids = encode(telling);
    return { prompt: ids.slice(0, 1), ids: ids.slice(1) };
  });
  return {
    parts: [sftPart(UPDATER, items)],
    epochs: STEPS,
    minibatches: 1,
    only: { layers, learningRate: RATE },
  };
}

/** What the policy knows of each document after some updates: the mean probability of its numbers, each after what stands before it [documents]. */
export async function known(
  stream: readonly Told[],
  updates: readonly TrialUpdate[],
  { trial, encode }: Pick<LearnTools, 'trial' | 'encode'>,
): Promise<number[]> {
  const asked = stream.map(({ asked }) => asked.flatMap(numbersOf));
  const scored = await trial(
    MAIN_SET,
    updates,
    asked.flat().map(({ before, number }) => ({ prompt: encode(before), ids: encode(number) })),
  );
  const all = scored.map((logprobs) => Math.exp(logprobs.reduce((sum, x) => sum + x, 0))).values();
  return asked.map((numbers) => mean(numbers.map(() => all.next().value!)));
}

/**
 * What an update is worth that takes in the document `at`: what is known of it more, less what earlier documents lose. A document that gains loses less than
 * nothing. before and after [documents]
 */
export function worthOf(
  before: readonly number[],
  after: readonly number[],
  at: number,
  forgetting: Forgetting,
): number {
  const gain = after[at]! - before[at]!;
  const losses = before.slice(0, at).map((one, d) => one - after[d]!);
  if (forgetting === 'none' || at === 0) return gain;
  const sum = losses.reduce((total, loss) => total + loss, 0);
  return gain - (forgetting === 'mean' ? sum / at : sum);
}
