/** Random packed batches for the laws of losses, and the ways to take them apart that must not matter. */
import { Random } from '../../../core/random.ts';
import { type Aggregation, aggregationWeights } from '../../../core/rl/aggregation.ts';
import * as tf from '../../../learner/tfjs.ts';

/** Plain arrays of one step; every per-token list has length T. */
export interface Batch {
  readonly logprobs: readonly number[];
  readonly old: readonly number[];
  readonly advantages: readonly number[];
  readonly mask: readonly number[];
  readonly weights: readonly number[];
  readonly sequence: readonly number[];
  readonly sequences: number;
}

/** Sequences of 1 to 6 tokens, a fifth of them masked; ratios between about e^-0.9 and e^0.9; advantages of both signs. */
export function randomBatch(
  seed: string,
  sequences = 5,
  aggregation: Aggregation = { mode: 'seq-mean-token-mean' },
): Batch {
  const random = new Random(seed);
  const sequence = Array.from({ length: sequences }, (_, i) =>
    new Array<number>(1 + random.int(6)).fill(i),
  ).flat();
  const logprobs = sequence.map(() => -0.05 - 3 * random.float());
  const mask = sequence.map(() => Number(random.bool(0.8)));
  return {
    logprobs,
    old: logprobs.map((logprob) => logprob + 0.9 * (2 * random.float() - 1)),
    advantages: sequence.map(() => random.normal()),
    mask,
    weights: aggregationWeights(aggregation, { mask, sequence }),
    sequence,
    sequences,
  };
}

/** The tokens at these positions, in this order. */
export const pick = (batch: Batch, positions: readonly number[]): Batch => {
  const take = (values: readonly number[]): number[] => positions.map((t) => values[t]!);
  return {
    ...batch,
    logprobs: take(batch.logprobs),
    old: take(batch.old),
    advantages: take(batch.advantages),
    mask: take(batch.mask),
    weights: take(batch.weights),
    sequence: take(batch.sequence),
  };
};

/** The same batch with values at the masked places that must not matter. */
export function spoil(
  batch: Batch,
  values: readonly number[] = [Number.NaN, 1e4, -1e4, Number.POSITIVE_INFINITY],
): Batch {
  const junk = (list: readonly number[], shift: number): number[] =>
    list.map((value, t) => (batch.mask[t] === 0 ? values[(t + shift) % values.length]! : value));
  return {
    ...batch,
    logprobs: junk(batch.logprobs, 0),
    old: junk(batch.old, 1),
    advantages: junk(batch.advantages, 2),
  };
}

/** The batch as losses take it; `logprobs` may come as a tensor of its own, to differentiate by. */
export const tensorsOf = (batch: Batch, logprobs: tf.Tensor1D = tf.tensor1d([...batch.logprobs])) => ({
  logprobs,
  oldLogprobs: tf.tensor1d([...batch.old]),
  advantages: tf.tensor1d([...batch.advantages]),
  weights: tf.tensor1d([...batch.weights]),
  sequences: { index: tf.tensor1d([...batch.sequence], 'int32'), count: batch.sequences },
});
