/** The configurations that the learner is measured on, shared by our step and PyTorch's. */
import { Random } from '../core/random.ts';
import type { SequenceInput } from '../learner/nn/pack.ts';
import { type ModelConfig, parseConfig } from '../model/config.ts';
import { randomCheckpoint } from '../model/init.ts';
import type { Tensors } from '../model/safetensors.ts';

export interface BenchConfig {
  name: string;
  /** A Hugging Face config.json. */
  hf: Record<string, unknown>;
  sequences: number;
  /** Tokens of each sequence; all but the first are scored. */
  length: number;
}

const config = (
  name: string,
  [layers, width, heads, inner, vocab]: readonly [number, number, number, number, number],
  [sequences, length]: readonly [number, number],
): BenchConfig => ({
  name,
  hf: {
    model_type: 'llama',
    vocab_size: vocab,
    hidden_size: width,
    intermediate_size: inner,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: heads,
    max_position_embeddings: length,
    rope_theta: 10000,
    tie_word_embeddings: false,
  },
  sequences,
  length,
});

/** The configurations: [layers, width, heads, inner width, vocabulary], then [sequences, tokens]. */
export const BENCH_CONFIGS: Readonly<Record<string, BenchConfig>> = {
  c1: config('c1', [4, 128, 4, 384, 64], [64, 48]),
  c2: config('c2', [6, 256, 4, 704, 512], [32, 128]),
  /** 0.1 B parameters, for a GPU. */
  gpu: config('gpu', [12, 768, 12, 2048, 32000], [16, 512]),
  /** 60 M parameters, for the memory of the CPU device. */
  large: config('large', [10, 640, 10, 1728, 8192], [8, 256]),
};

export const modelConfig = ({ hf }: BenchConfig): ModelConfig => parseConfig(hf);

export const benchWeights = (bench: BenchConfig): Tensors =>
  randomCheckpoint(modelConfig(bench), `bench/${bench.name}`);

export interface BenchBatch {
  sequences: SequenceInput[];
  /** One number a scored token, in order: [sequences * (length - 1)]. */
  advantages: number[];
}

export function benchBatch({ name, hf, sequences, length }: BenchConfig): BenchBatch {
  const random = new Random(`bench/${name}/batch`);
  const ids = () => Array.from({ length }, () => random.int(hf.vocab_size as number));
  return {
    sequences: Array.from({ length: sequences }, () => ({ ids: ids(), from: 1 })),
    advantages: Array.from({ length: sequences * (length - 1) }, () => random.normal()),
  };
}
