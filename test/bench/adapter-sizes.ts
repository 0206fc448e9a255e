/** The models of the adapter's bench, and the sequences of a step and their tokens. */

const shape = (
  layers: number,
  width: number,
  [heads, kvHeads]: readonly [number, number],
  inner: number,
  vocab: number,
) => ({
  model_type: 'llama',
  vocab_size: vocab,
  hidden_size: width,
  intermediate_size: inner,
  num_hidden_layers: layers,
  num_attention_heads: heads,
  num_key_value_heads: kvHeads,
  max_position_embeddings: 2048,
  tie_word_embeddings: vocab > 4096,
});

export const ADAPTER = { rank: 16, alpha: 32 };

export const SIZES: Readonly<
  Record<string, { readonly hf: object; readonly sequences: number; readonly length: number }>
> = {
  '12.8M': { hf: shape(7, 384, [6, 6], 1024, 512), sequences: 16, length: 128 },
  /** SmolLM2's. */
  '135M': { hf: shape(30, 576, [9, 3], 1536, 49152), sequences: 15, length: 128 },
};
