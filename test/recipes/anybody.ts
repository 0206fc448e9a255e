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

const ofShape = (config: typeof CONFIG): VersionFiles => ({
  ...versionFiles({ eos_token: '<|im_end|>', chat_template: QWEN_TEMPLATE }, { config }),
  'model.safetensors': writeSafetensors(randomCheckpoint(parseConfig(config), 'anybody')),
});

export const anybody = ofShape(CONFIG);

const vision = { patch_size: 8, rows: 4, columns: 4, token_id: 0 };
/** The same with random weights that see. */
export const anybodyWhoSees = ofShape({ ...CONFIG, ...{ vision } });
