/** A checkpoint with random weights in Qwen2's shape and a byte-level tokenizer, as somebody would import one. */
import type { VersionFiles } from '../../core/schema/policy.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { byteTokenizer } from '../core/renderer/checkpoints.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';

const utf8 = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** `rows`: of embeddings, for the 256 bytes and the special tokens, or more. `told`: tokenizer_config.json. */
export function qwenCheckpoint(rows: number, special: readonly string[], told: object): VersionFiles {
  const config = smallConfig({
    model_type: 'qwen2',
    vocab_size: rows,
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    max_position_embeddings: 256,
  });
  return {
    'config.json': utf8(toHfConfig(config)),
    'tokenizer.json': utf8(byteTokenizer([...special])),
    'tokenizer_config.json': utf8(told),
    'model.safetensors': writeSafetensors(randomTensors(config)),
  };
}
