/** The architectures that can be read, a row each: what their layers have other than Llama's, and what their config.json leaves out. */
import type { HfConfig } from './hf-schema.ts';
import { type LayerSpec, POST_NORMS, SANDWICH_NORMS } from './layers.ts';

/** What a row says of the model as a whole. */
export interface ModelTraits {
  /** Added to the weights of all norms: 1 where a checkpoint stores gains less 1. */
  readonly gainOffset: 0 | 1;
  /** Embeddings are multiplied by the square root of the hidden size. */
  readonly scalesEmbeddings: boolean;
}

interface ArchitectureRow {
  /** Its name in words. */
  readonly title: string;
  /** The class in transformers. */
  readonly className: string;
  /** The values of fields that config.json does not have. */
  readonly defaults?: Partial<
    Pick<
      HfConfig,
      | 'rope_theta'
      | 'rms_norm_eps'
      | 'tie_word_embeddings'
      | 'head_dim'
      | 'hidden_act'
      | 'query_pre_attn_scalar'
    >
  >;
  readonly traits?: ModelTraits;
  /** What all layers have. */
  readonly all?: Partial<LayerSpec>;
  /** What single layers have, by config.json. */
  readonly layer?: (config: HfConfig) => (index: number) => Partial<LayerSpec>;
  /** The fields of config.json that say what single layers have. */
  readonly fields?: (layers: readonly LayerSpec[]) => Partial<HfConfig>;
}

export type Architecture = keyof typeof ARCHITECTURES;

export const SLIDING = 'sliding_attention';
export const FULL = 'full_attention';

export const ARCHITECTURES = {
  llama: { title: 'Llama', className: 'LlamaForCausalLM' },
  qwen2: { title: 'Qwen2', className: 'Qwen2ForCausalLM', all: { qkvBias: true } },
  qwen3: {
    title: 'Qwen3',
    className: 'Qwen3ForCausalLM',
    defaults: { head_dim: 128 },
    all: { qkNorm: 'heads' },
  },
  smollm3: {
    title: 'SmolLM3',
    className: 'SmolLM3ForCausalLM',
    defaults: { rope_theta: 2e6, tie_word_embeddings: true },
    // `no_rope_layers` has 1 for a layer that rotates.
    layer:
      ({ no_rope_layers: rotates, no_rope_layer_interval: interval = 4 }) =>
      (i) =>
        (rotates ? rotates[i] : (i + 1) % interval) ? {} : { rope: null },
    fields: (layers) => ({ no_rope_layers: layers.map(({ rope }) => (rope ? 1 : 0)) }),
  },
  olmo2: {
    title: 'OLMo 2',
    className: 'Olmo2ForCausalLM',
    defaults: { rms_norm_eps: 1e-5 },
    all: { norms: POST_NORMS, qkNorm: 'whole' },
  },
  gemma3_text: {
    title: 'Gemma 3',
    className: 'Gemma3ForCausalLM',
    defaults: {
      rope_theta: 1e6,
      tie_word_embeddings: true,
      head_dim: 256,
      hidden_act: 'gelu_pytorch_tanh',
      query_pre_attn_scalar: 256,
    },
    traits: { gainOffset: 1, scalesEmbeddings: true },
    all: { norms: SANDWICH_NORMS, qkNorm: 'heads' },
    layer: ({ layer_types: types, sliding_window_pattern, rope_parameters, ...c }) => {
      const window = c.sliding_window ?? 4096;
      const theta = rope_parameters?.sliding_attention?.rope_theta ?? c.rope_local_base_freq ?? 1e4;
      const local = { window, rope: { theta, scaling: null } };
      return (i) => ((types ? types[i] === SLIDING : (i + 1) % (sliding_window_pattern ?? 6)) ? local : {});
    },
    fields: (layers) => {
      const local = layers.find(({ window }) => window !== null);
      return {
        hidden_activation: layers[0]?.activation === 'silu' ? 'silu' : 'gelu_pytorch_tanh',
        layer_types: layers.map(({ window }) => (window === null ? FULL : SLIDING)),
        ...(local ? { sliding_window: local.window, rope_local_base_freq: local.rope!.theta } : {}),
      };
    },
  },
} as const satisfies Record<string, ArchitectureRow>;

export const rowOf = (architecture: Architecture): ArchitectureRow => ARCHITECTURES[architecture];
