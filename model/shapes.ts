/** Shapes of the models that warm starts make. */
import type { ModelConfig } from './config.ts';
import { type LayerSpec, plainLayer } from './layers.ts';

type Shape = (vocabSize: number, eos: number) => ModelConfig;

/** Four layers alike. */
const four = (changes: Partial<LayerSpec> = {}): LayerSpec[] =>
  new Array(4).fill({ ...plainLayer({ theta: 10_000, scaling: null }), ...changes });

/** Qwen2's shape with four layers, of a width that is a multiple of 32: heads of 16 numbers, two for each key and value. */
const qwen2 =
  (hiddenSize: number, maxPositions = 256): Shape =>
  (vocabSize, eos) => ({
    architecture: 'qwen2',
    vocabSize,
    hiddenSize,
    intermediateSize: (hiddenSize * 11) / 4,
    layers: four({ qkvBias: true }),
    heads: hiddenSize / 16,
    kvHeads: hiddenSize / 32,
    headDim: 16,
    queryScalar: 16,
    rmsNormEps: 1e-6,
    maxPositions,
    tiedEmbeddings: true,
    gainOffset: 0,
    scalesEmbeddings: false,
    bosId: null,
    eosIds: [eos],
  });

/** Llama's shape with four layers and heads of 32 numbers. */
const llama =
  (hiddenSize: number, intermediateSize: number, maxPositions: number): Shape =>
  (vocabSize, eos) => ({
    architecture: 'llama',
    vocabSize,
    hiddenSize,
    intermediateSize,
    layers: four(),
    heads: hiddenSize / 32,
    kvHeads: hiddenSize / 32,
    headDim: 32,
    queryScalar: 32,
    rmsNormEps: 1e-6,
    maxPositions,
    tiedEmbeddings: true,
    gainOffset: 0,
    scalesEmbeddings: false,
    bosId: null,
    eosIds: [eos],
  });

/** `nano` is small enough that a round takes seconds on a laptop; `micro`, with twice the positions, and `mini` are the same in 1.2 and 3.0 million parameters. `small` and `calls` are Llama's shape in 1.4 million parameters at a vocabulary of 1024, and in 1.1 million at one of 44. */
export const SHAPES = {
  nano: qwen2(64),
  micro: qwen2(160, 512),
  mini: qwen2(256),
  small: llama(160, 416, 1024),
  calls: llama(128, 512, 128),
} as const satisfies Record<string, Shape>;
export type ShapeName = keyof typeof SHAPES;

/** Rows and columns of patches that the policies of warm starts see: images of up to 64 × 64 pixels. */
export const SIGHT = { rows: 8, columns: 8 } as const;
