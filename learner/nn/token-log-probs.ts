/** Log-probabilities and entropies of a batch's scored tokens: what every objective starts from. */
import { type TokenLogProbs, tokenLogProb } from '../ops/token-log-prob.ts';
import * as tf from '../tfjs.ts';
import { outputName, scoredStates } from './model.ts';
import type { PackedBatch } from './pack.ts';
import type { ParamSet } from './params.ts';

/** Per-token tensors [scored], in the batch's order. Inside a gradient function they carry gradients to `params`. */
export const tokenLogProbs = (
  params: ParamSet,
  batch: PackedBatch,
  { temperature = 1 }: { temperature?: number } = {},
): TokenLogProbs =>
  tf.tidy(() => {
    const hidden = scoredStates(params, batch);
    const targets = tf.tensor1d(batch.targets, 'int32');
    return {
      ...tokenLogProb(hidden, params.get(outputName(params)) as tf.Tensor2D, targets, { temperature }),
    };
  });
