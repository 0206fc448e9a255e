/** The architectures that can be read, a row each: what their layers have other than Llama's, and what their config.json leaves out. */
import type { HfConfig } from './hf-schema.ts';
import { type LayerSpec, POST_NORMS } from './layers.ts';

interface ArchitectureRow {
  /** Its name in words. */
  readonly title: string;
  /** The class in transformers. */
  readonly className: string;
  /** The values of fields that config.json does not have. */
  readonly defaults?: Partial<
    Pick<HfConfig, 'rope_theta' | 'rms_norm_eps' | 'tie_word_embeddings' | 'head_dim'>
  >;
  /** What all layers have. */
  readonly all?: Partial<LayerSpec>;
  /** What single layers have, by config.json. */
  readonly layer?: (config: HfConfig, index: number) => Partial<LayerSpec>;
  /** The fields of config.json that say what single layers have. */
  readonly fields?: (layers: readonly LayerSpec[]) => Partial<HfConfig>;
}

export type Architecture = keyof typeof ARCHITECTURES;

/** Every fourth layer of SmolLM3 has no rotation; `no_rope_layers` has 1 for a layer that rotates. */
const NO_ROPE_INTERVAL = 4;

export const ARCHITECTURES = {
  llama: { title: 'Llama', className: 'LlamaForCausalLM' },
  qwen2: { title: 'Qwen2', className: 'Qwen2ForCausalLM', all: { qkvBias: true } },
  qwen3: {
    title: 'Qwen3',
    className: 'Qwen3ForCausalLM',
    all: { qkNorm: 'heads' },
    defaults: { head_dim: 128 },
  },
  smollm3: {
    title: 'SmolLM3',
    className: 'SmolLM3ForCausalLM',
    defaults: { rope_theta: 2e6, tie_word_embeddings: true },
    layer: ({ no_rope_layers: rotates, no_rope_layer_interval: interval = NO_ROPE_INTERVAL }, i) =>
      (rotates ? rotates[i] : (i + 1) % interval) ? {} : { rope: null },
    fields: (layers) => ({ no_rope_layers: layers.map(({ rope }) => (rope ? 1 : 0)) }),
  },
  olmo2: {
    title: 'OLMo 2',
    className: 'Olmo2ForCausalLM',
    defaults: { rms_norm_eps: 1e-5 },
    all: { norms: POST_NORMS, qkNorm: 'whole' },
  },
} as const satisfies Record<string, ArchitectureRow>;

export const rowOf = (architecture: Architecture): ArchitectureRow => ARCHITECTURES[architecture];
