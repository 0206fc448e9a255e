/** Tiny checkpoints of architectures: config.json as transformers writes it, and random weights under its names. */
import type { HfJson } from './reference.ts';

const tiny = {
  vocab_size: 40,
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-6,
};

export const TINY_ARCHITECTURES = {
  smollm3: {
    ...tiny,
    architectures: ['SmolLM3ForCausalLM'],
    model_type: 'smollm3',
    hidden_act: 'silu',
    attention_bias: false,
    mlp_bias: false,
    layer_types: new Array(4).fill('full_attention'),
    no_rope_layer_interval: 4,
    no_rope_layers: [1, 1, 1, 0],
    rope_scaling: null,
    rope_theta: 5e6,
    sliding_window: null,
    use_sliding_window: false,
    max_window_layers: 28,
    pretraining_tp: 2,
    tie_word_embeddings: true,
  },
  olmo2: {
    ...tiny,
    architectures: ['Olmo2ForCausalLM'],
    model_type: 'olmo2',
    hidden_act: 'silu',
    attention_bias: false,
    attention_dropout: 0,
    rope_scaling: null,
    rope_theta: 5e5,
    rms_norm_eps: 1e-6,
    pad_token_id: 1,
    bos_token_id: null,
    use_cache: false,
    tie_word_embeddings: false,
  },
  gemma3_text: {
    ...tiny,
    architectures: ['Gemma3ForCausalLM'],
    model_type: 'gemma3_text',
    num_hidden_layers: 6,
    attention_bias: false,
    attn_logit_softcapping: null,
    cache_implementation: 'hybrid',
    final_logit_softcapping: null,
    head_dim: 16,
    hidden_activation: 'gelu_pytorch_tanh',
    query_pre_attn_scalar: 24,
    rope_local_base_freq: 10_000,
    rope_scaling: { rope_type: 'linear', factor: 8 },
    rope_theta: 1_000_000,
    sliding_window: 7,
    sliding_window_pattern: 3,
  },
} as const satisfies Record<string, HfJson & Record<string, unknown>>;

export type TinyArchitecture = keyof typeof TINY_ARCHITECTURES;
export const TINY_NAMES = Object.keys(TINY_ARCHITECTURES) as TinyArchitecture[];
