/** Log-probabilities and entropies of a batch's scored tokens, which every objective is computed from. */
import { type TokenLogProbs, tokenLogProb } from '../ops/token-log-prob.ts';
import * as tf from '../tfjs.ts';
import { type ForwardOptions, outputWeight, scoredStates } from './model.ts';
import type { PackedBatch } from './pack.ts';
import type { ParamSet } from './params.ts';

export interface ScoreOptions extends ForwardOptions {
  /** Temperature that divides the logits, the same as in sampling. Default 1. */
  temperature?: number;
  /** Keep all logits for the backward pass, where there is room for them, see `mayKeepLogits`. Default false. */
  keepLogits?: boolean;
}

/** Per-token tensors [scored] from `scoredStates`, for callers that put heads on the same states. */
export const logProbsOfStates = (
  params: ParamSet,
  states: tf.Tensor2D,
  batch: PackedBatch,
  { temperature = 1, adapter, keepLogits = false }: ScoreOptions = {},
): TokenLogProbs =>
  tf.tidy(() => {
    const targets = tf.tensor1d(batch.targets, 'int32');
    return {
      ...tokenLogProb(states, outputWeight(params), targets, {
        temperature,
        trainsWeight: !adapter,
        keepLogits,
      }),
    };
  });

/** Per-token tensors [scored], in the batch's order. Inside a gradient function they carry gradients to `params`. */
export const tokenLogProbs = (
  params: ParamSet,
  batch: PackedBatch,
  options: ScoreOptions = {},
): TokenLogProbs =>
  tf.tidy(() => ({ ...logProbsOfStates(params, scoredStates(params, batch, options), batch, options) }));
