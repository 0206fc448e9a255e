/** A checkpoint of random weights with a byte-level tokenizer and a chat template: it answers nothing right, and any recipe can ask it. */
import type { VersionFiles } from '../../core/schema/policy.ts';
import { parseConfig } from '../../model/config.ts';
import { randomCheckpoint } from '../../model/init.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { QWEN_TEMPLATE, versionFiles } from '../core/renderer/checkpoints.ts';

const CONFIG = {
  model_type: 'qwen3',
  vocab_size: 262,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  max_position_embeddings: 2048,
  tie_word_embeddings: true,
};

export const anybody: VersionFiles = {
  ...versionFiles({ eos_token: '<|im_end|>', chat_template: QWEN_TEMPLATE }, { config: CONFIG }),
  'model.safetensors': writeSafetensors(randomCheckpoint(parseConfig(CONFIG), 'anybody')),
};
