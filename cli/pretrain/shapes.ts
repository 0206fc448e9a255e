/** Shapes of the models that warm starts make. */
import type { ModelConfig } from '../../model/config.ts';

type Shape = (vocabSize: number, eos: number) => ModelConfig;

/** Qwen2's shape with four layers, of a width that is a multiple of 32: heads of 16 numbers, two for each key and value. */
const qwen2 =
  (hiddenSize: number, maxPositions = 256): Shape =>
  (vocabSize, eos) => ({
    architecture: 'qwen2',
    vocabSize,
    hiddenSize,
    intermediateSize: (hiddenSize * 11) / 4,
    layers: 4,
    heads: hiddenSize / 16,
    kvHeads: hiddenSize / 32,
    headDim: 16,
    rmsNormEps: 1e-6,
    ropeTheta: 10_000,
    ropeScaling: null,
    maxPositions,
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

/** `nano` is small enough that a round takes seconds on a laptop; `micro`, with twice the positions, and `mini` are the same in 1.2 and 3.0 million parameters. */
export const SHAPES = {
  nano: qwen2(64),
  micro: qwen2(160, 512),
  mini: qwen2(256),
  small,
} as const satisfies Record<string, Shape>;
export type ShapeName = keyof typeof SHAPES;
