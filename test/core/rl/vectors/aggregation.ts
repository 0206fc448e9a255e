/** Reference vectors of aggregation modes: as weights on plain arrays, and as the same weights inside a tfjs loss. */
import * as v from 'valibot';
import { type Aggregation, aggregationWeights, weightedSum } from '../../../../core/rl/aggregation.ts';
import { reduce } from '../../../../learner/losses/tokens.ts';
import * as tf from '../../../../learner/tfjs.ts';
import { expectClose } from '../../../learner/losses/finite-difference.ts';
import { pack, rows, vectorCase } from './case.ts';

function expectAggregate(
  aggregation: Aggregation,
  losses: number[][],
  masks: number[][],
  expected: number,
): void {
  const { flat, sequence } = pack(losses);
  const weights = aggregationWeights(aggregation, { mask: masks.flat(), sequence });
  expectClose([weightedSum(flat, weights)], [expected], 1e-12);
  expectClose(reduce(tf.tensor1d(flat), { weights: tf.tensor1d(weights) }).loss.dataSync(), [expected], 1e-6);
}

const plain = v.object({ loss: rows, mask: rows });

export const aggregationCases = [
  vectorCase(/^agg\.(token_mean|all_masked)$/, plain, v.number(), ({ loss, mask }, expected) =>
    expectAggregate({ mode: 'token-mean' }, loss, mask, expected),
  ),
  vectorCase(
    /^agg\.(sequence_mean|fully_masked_seq|all_masked)$/,
    plain,
    v.number(),
    ({ loss, mask }, expected) => expectAggregate({ mode: 'seq-mean-token-mean' }, loss, mask, expected),
  ),
  vectorCase(
    /^agg\.sum_norm$/,
    v.object({ ...plain.entries, max_len: v.number() }),
    v.number(),
    ({ loss, mask, max_len }, expected) =>
      expectAggregate({ mode: 'seq-sum-constant', length: max_len }, loss, mask, expected),
  ),
  vectorCase(
    /^agg\.token_mean_legacy$/,
    v.object({ ...plain.entries, micro: v.number() }),
    v.number(),
    // the mean of micro-batches' token means is the prompt mean with the micro-batch as group
    ({ loss, mask, micro }, expected) => {
      const groups = loss.map((_, i) => Math.floor(i / micro));
      expectAggregate({ mode: 'prompt-mean', groups }, loss, mask, expected);
    },
  ),
  vectorCase(
    /^agg\.prompt_mean$/,
    v.object({ ...plain.entries, groups: rows }),
    v.number(),
    ({ loss, mask, groups }, expected) => {
      const keys = loss.map((_, i) => groups.findIndex(([from, to]) => i >= from! && i < to!));
      expectAggregate({ mode: 'prompt-mean', groups: keys }, loss, mask, expected);
    },
  ),
  vectorCase(
    /^agg\.accum_window$/,
    v.object({ micro: v.array(rows), mask: v.array(rows) }),
    v.number(),
    ({ micro, mask }, expected) => {
      // weights of the whole window, losses summed micro-batch by micro-batch
      const { sequence } = pack(mask.flat());
      const weights = aggregationWeights({ mode: 'token-mean' }, { mask: mask.flat(2), sequence });
      let at = 0;
      const partial = micro.map((batch) => {
        const losses = batch.flat();
        const part = weights.slice(at, at + losses.length);
        at += losses.length;
        return weightedSum(losses, part);
      });
      expectClose([partial.reduce((a, b) => a + b, 0)], [expected], 1e-12);
    },
  ),
];
