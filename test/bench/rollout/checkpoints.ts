/** The checkpoints that generation is measured on. */
import { readFile } from 'node:fs/promises';
import { type ModelConfig, parseConfig } from '../../../model/config.ts';
import { randomCheckpoint } from '../../../model/init.ts';
import { readSafetensors, type Tensors } from '../../../model/safetensors.ts';

interface Checkpoint {
  readonly config: ModelConfig;
  readonly tensors: Tensors;
}

const random = (json: Record<string, unknown>) => async (): Promise<Checkpoint> => {
  const config = parseConfig({ model_type: 'llama', max_position_embeddings: 128, ...json });
  return { config, tensors: randomCheckpoint(config, 'bench') };
};

export const checkpoints: Record<string, () => Promise<Checkpoint>> = {
  /** The committed start policy. */
  seed: async () => ({
    config: parseConfig(JSON.parse(await readFile('models/arithmetic-base/config.json', 'utf8'))),
    tensors: readSafetensors(await readFile('models/arithmetic-base/model.safetensors')),
  }),
  small: random({
    vocab_size: 64,
    hidden_size: 128,
    intermediate_size: 384,
    num_hidden_layers: 4,
    num_attention_heads: 4,
  }),
  large: random({
    vocab_size: 512,
    hidden_size: 384,
    intermediate_size: 1024,
    num_hidden_layers: 8,
    num_attention_heads: 6,
    num_key_value_heads: 2,
    tie_word_embeddings: true,
  }),
};
