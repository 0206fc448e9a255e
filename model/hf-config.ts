/** Writes a ModelConfig as the config.json that other tools load. */
import { PATCH } from '../core/images/patches.ts';
import { rowOf } from './architectures.ts';
import type { ModelConfig } from './config.ts';
import { globalRope, type RopeScaling } from './layers.ts';

function scalingToHf(scaling: RopeScaling): Record<string, unknown> {
  switch (scaling.type) {
    case 'linear':
      return { rope_type: 'linear', factor: scaling.factor };
    case 'llama3':
      return {
        rope_type: 'llama3',
        factor: scaling.factor,
        low_freq_factor: scaling.lowFreqFactor,
        high_freq_factor: scaling.highFreqFactor,
        original_max_position_embeddings: scaling.originalMaxPositions,
      };
    case 'yarn':
      return {
        rope_type: 'yarn',
        factor: scaling.factor,
        beta_fast: scaling.betaFast,
        beta_slow: scaling.betaSlow,
        attention_factor: scaling.attentionFactor,
        original_max_position_embeddings: scaling.originalMaxPositions,
      };
  }
}

/** The config.json of a checkpoint; `parseConfig(toHfConfig(c))` equals `c`. */
export function toHfConfig(config: ModelConfig, dtype = 'float32'): Record<string, unknown> {
  const { className, defaults = {}, fields } = rowOf(config.architecture);
  const { vision } = config;
  const rope = globalRope(config.layers) ?? config.layers[0]?.rope;
  const namesScalar = defaults.query_pre_attn_scalar || config.queryScalar !== config.headDim;
  return {
    architectures: [className],
    model_type: config.architecture,
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers.length,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    hidden_act: config.layers[0]?.activation === 'gelu-tanh' ? 'gelu_pytorch_tanh' : 'silu',
    ...(namesScalar ? { query_pre_attn_scalar: config.queryScalar } : {}),
    rms_norm_eps: config.rmsNormEps,
    rope_theta: rope?.theta,
    rope_scaling: rope?.scaling ? scalingToHf(rope.scaling) : null,
    max_position_embeddings: config.maxPositions,
    tie_word_embeddings: config.tiedEmbeddings,
    attention_bias: false,
    bos_token_id: config.bosId,
    eos_token_id:
      config.eosIds.length === 0 ? null : config.eosIds.length === 1 ? config.eosIds[0] : config.eosIds,
    torch_dtype: dtype,
    ...fields?.(config.layers),
    ...(vision
      ? {
          vision: {
            patch_size: PATCH,
            rows: vision.rows,
            columns: vision.columns,
            token_id: vision.token,
          },
        }
      : {}),
  };
}
