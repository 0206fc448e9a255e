/** A small model and random batches for the engine's invariants. */
import { Random } from '../../core/random.ts';
import type { SequenceInput } from '../../learner/nn/pack.ts';
import { type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { randomCheckpoint } from '../../model/init.ts';

export const TINY: ModelConfig = parseConfig({
  model_type: 'qwen3',
  vocab_size: 61,
  hidden_size: 32,
  intermediate_size: 72,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  max_position_embeddings: 256,
  tie_word_embeddings: true,
});

export const tinyParams = (id = 'tiny'): ParamSet => paramsFrom(TINY, randomCheckpoint(TINY, id));

/** Sequences of the given lengths; the first third of each is the prompt. */
export function randomSequences(lengths: readonly number[], id = 'sequences'): SequenceInput[] {
  const random = new Random(id);
  return lengths.map((length) => ({
    ids: Array.from({ length }, () => random.int(TINY.vocabSize)),
    from: Math.max(1, Math.floor(length / 3)),
  }));
}

/** Largest |a - b| relative to the largest |a|. */
export function relativeDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let difference = 0;
  let scale = 0;
  for (let i = 0; i < a.length; i++) {
    difference = Math.max(difference, Math.abs(a[i]! - b[i]!));
    scale = Math.max(scale, Math.abs(a[i]!));
  }
  return a.length === b.length ? difference / Math.max(scale, 1e-30) : Number.POSITIVE_INFINITY;
}
