/** A set's model and its readouts: log-probabilities of tokens, values or states before tokens, or classes of whole sequences. */
import { wrongInput } from '../../core/errors.ts';
import type { Sequence } from '../../core/plan/training-plan.ts';
import type { Head } from '../nn/heads.ts';
import type { Lora } from '../nn/lora.ts';
import { lastStates, scoredStates } from '../nn/model.ts';
import { type PackedBatch, packSequences } from '../nn/pack.ts';
import type { ParamSet } from '../nn/params.ts';
import { tokenLogProbs } from '../nn/token-log-probs.ts';
import * as tf from '../tfjs.ts';

/**
 * What is read of a model:
 *
 * - `logprobs`: the log-probability and the entropy of each scored token, [T] and [T].
 * - `values`: the value before each scored token, [T].
 * - `states`: the hidden state that predicts each scored token, [T, width].
 * - `classes`: the logits after each sequence's last token, [S, classes].
 */
export type Readout = 'logprobs' | 'values' | 'states' | 'classes';

export interface Model {
  readonly params: ParamSet;
  /** Low-rank adapter on the weights, which are then frozen. */
  readonly adapter?: Lora | undefined;
  readonly head?: { readonly kind: 'value' | 'classes'; readonly head: Head } | undefined;
}

/** Packs prompts and completions end to end; the scored tokens are those of the completions. */
export const pack = (sequences: readonly Sequence[]): PackedBatch =>
  packSequences(sequences.map(({ prompt, ids }) => ({ ids: [...prompt, ...ids], from: prompt.length })));

export interface ReadOptions {
  /** Temperature that divides the logits. Default 1. */
  readonly temperature?: number;
  /** Keep only the blocks' inputs for the backward pass; default false. */
  readonly recompute?: boolean;
  /** Keep the logits of `logprobs` for the backward pass; default false. */
  readonly keepLogits?: boolean;
}

/** Computes a readout. Inside a gradient function its tensors carry gradients to the model. Throws `wrong-input` where the set lacks the head. */
export function readOut(
  model: Model,
  batch: PackedBatch,
  readout: Readout,
  { temperature = 1, recompute = false, keepLogits = false }: ReadOptions = {},
): tf.Tensor[] {
  const { params, adapter } = model;
  const forward = { adapter, recompute };
  switch (readout) {
    case 'logprobs': {
      const { logp, entropy } = tokenLogProbs(params, batch, { temperature, keepLogits, ...forward });
      return [logp, entropy];
    }
    case 'values': {
      const head = headOf(model, 'value');
      return [tf.reshape(head.outputs(scoredStates(params, batch, forward)), [batch.targets.length])];
    }
    case 'states':
      return [scoredStates(params, batch, forward)];
    case 'classes':
      return [headOf(model, 'classes').outputs(lastStates(params, batch, forward))];
  }
}

function headOf({ head }: Model, kind: 'value' | 'classes'): Head {
  if (head?.kind !== kind)
    throw wrongInput(
      'training-plan.head',
      `The parameter set has ${head ? `a head of kind ${head.kind}` : 'no head'}.`,
      {
        expected: `one of kind ${kind}`,
        next: 'Give the set that head in the recipe.',
      },
    );
  return head.head;
}
