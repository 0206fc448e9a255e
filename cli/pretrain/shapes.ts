/** Shapes of the models that warm starts make. */
import type { ModelConfig } from '../../model/config.ts';

type Shape = (vocabSize: number, eos: number) => ModelConfig;

/** Qwen2's shape, small enough that a round takes seconds on a laptop. */
const nano: Shape = (vocabSize, eos) => ({
  architecture: 'qwen2',
  vocabSize,
  hiddenSize: 64,
  intermediateSize: 176,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headDim: 16,
  rmsNormEps: 1e-6,
  ropeTheta: 10_000,
  ropeScaling: null,
  maxPositions: 256,
  tiedEmbeddings: true,
  qkvBias: true,
  qkNorm: false,
  bosId: null,
  eosIds: [eos],
});

/** Llama's shape with 1.4 million parameters at a vocabulary of 1024. */
const small: Shape = (vocabSize, eos) => ({
  architecture: 'llama',
  vocabSize,
  hiddenSize: 160,
  intermediateSize: 416,
  layers: 4,
  heads: 5,
  kvHeads: 5,
  headDim: 32,
  rmsNormEps: 1e-6,
  ropeTheta: 10_000,
  ropeScaling: null,
  maxPositions: 1024,
  tiedEmbeddings: true,
  qkvBias: false,
  qkNorm: false,
  bosId: null,
  eosIds: [eos],
});

export const SHAPES = { nano, small } as const satisfies Record<string, Shape>;
