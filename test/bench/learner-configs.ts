/** The configurations that the learner is measured on, shared by our step and PyTorch's. */
import { Random } from '../../core/random.ts';
import type { SequenceInput } from '../../learner/nn/pack.ts';
import { parameterCount, tensorShapes } from '../../model/checkpoint.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { randomCheckpoint } from '../../model/init.ts';
import type { Tensors } from '../../model/safetensors.ts';

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
  { kvHeads = heads, tied = false } = {},
): BenchConfig => ({
  name,
  hf: {
    model_type: 'llama',
    vocab_size: vocab,
    hidden_size: width,
    intermediate_size: inner,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    max_position_embeddings: length,
    rope_theta: 10000,
    tie_word_embeddings: tied,
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
  /** The shape of the shipped start policies, 0.2 M parameters, and the batch of a small round. */
  '0.2M': config('0.2M', [4, 64, 4, 176, 97], [64, 64], { kvHeads: 2, tied: true }),
  /** The models of the adapter's bench: all weights. */
  '12.8M': config('12.8M', [7, 384, 6, 1024, 512], [32, 128]),
  /** SmolLM2's shape. */
  '135M': config('135M', [30, 576, 9, 1536, 49152], [8, 256], { kvHeads: 3, tied: true }),
  /** 60 M parameters, for the memory of the CPU device. */
  large: config('large', [10, 640, 10, 1728, 8192], [8, 256]),
};

export const modelConfig = ({ hf }: BenchConfig): ModelConfig => parseConfig(hf);

/** Parameters above which drawing each weight takes longer than the steps that are timed: as many normal numbers are drawn, and repeated. */
const MOST_DRAWN = 1e8;
const DRAWN = (1 << 20) - 3;

function repeatedWeights(config: ModelConfig, seed: string): Tensors {
  const random = new Random(seed);
  const drawn = Float32Array.from({ length: DRAWN }, () => random.normal());
  let at = 0;
  return new Map(
    [...tensorShapes(config)].map(([name, shape]) => {
      const data = new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(1);
      if (shape.length > 1) for (let i = 0; i < data.length; i++) data[i] = 0.02 * drawn[at++ % DRAWN]!;
      return [name, { shape: [...shape], data }];
    }),
  );
}

export function benchWeights(bench: BenchConfig): Tensors {
  const config = modelConfig(bench);
  const make = parameterCount(config) > MOST_DRAWN ? repeatedWeights : randomCheckpoint;
  return make(config, `bench/${bench.name}`);
}

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
