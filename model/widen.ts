/**
 * A checkpoint in a wider shape that computes the same: a start policy that goes on from a smaller one (Chen et al., “Net2Net”, arXiv:1511.05641). Old
 * weights stand in the first rows and columns. What is new reads the residual stream with random weights and writes zeros to it, so that nothing
 * changes at first and every new weight has a gradient within two steps.
 */
import { wrongInput } from '../core/errors.ts';
import { tensorShapes } from './checkpoint.ts';
import type { ModelConfig } from './config.ts';
import { randomTensors } from './init.ts';
import type { Tensors } from './safetensors.ts';

/** Matrices whose new rows and columns are random; in all other tensors they are zeros. */
const READS = /(?:[qkv]_proj|gate_proj|up_proj)\.weight$/;

/** Gains of the norms of the residual stream. */
const STREAM_GAIN = /(?:layernorm|model\.norm)\.weight$/;

/** What must be alike, since no width hides a difference. */
const alike = ({ architecture, vocabSize, layers, headDim, heads, kvHeads, ...config }: ModelConfig) => ({
  architecture,
  vocabSize,
  layers: layers.length,
  headDim,
  queriesPerKey: heads / kvHeads,
  layer: layers,
  tiedEmbeddings: config.tiedEmbeddings,
  rmsNormEps: config.rmsNormEps,
  queryScalar: config.queryScalar,
  vision: config.vision ?? null,
});

/** Throws `widen.shape` where the two differ in more than their widths and positions, or the new one is narrower. */
function expectWider(from: ModelConfig, to: ModelConfig): void {
  if (from.scalesEmbeddings || from.gainOffset || from.layers.some(({ qkNorm }) => qkNorm === 'whole'))
    throw wrongInput('widen.shape', `A checkpoint of ${from.architecture} cannot be widened.`, {
      expected: 'embeddings that no width scales, whole gains, and no norm over all heads',
      next: 'Widen a checkpoint of llama, qwen2, qwen3 or smollm3.',
    });
  const [before, after] = [alike(from), alike(to)];
  const different = (Object.keys(before) as (keyof typeof before)[]).find(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  const narrower = (['hiddenSize', 'intermediateSize', 'heads', 'maxPositions'] as const).find(
    (key) => to[key] < from[key],
  );
  if (!different && !narrower) return;
  throw wrongInput(
    'widen.shape',
    different
      ? `A checkpoint cannot be widened to another ${different}: ${JSON.stringify(before[different])} and ${JSON.stringify(after[different])}.`
      : `A checkpoint cannot be widened to a smaller ${narrower}: ${from[narrower!]} and ${to[narrower!]}.`,
    { expected: 'two shapes that differ in their widths and positions alone' },
  );
}

/** The checkpoint in the shape `to`. The same seed gives the same bytes. Throws `widen.shape` where it cannot be widened to that. */
export function widened(tensors: Tensors, from: ModelConfig, to: ModelConfig, seed: string): Tensors {
  expectWider(from, to);
  // The mean square of a stream with new zeros is smaller; gains make up for it.
  const shrunk = Math.sqrt(from.hiddenSize / to.hiddenSize);
  const old = tensorShapes(from);
  return new Map(
    [...randomTensors(to, seed)].map(([name, { shape, data }]) => {
      const isGain = STREAM_GAIN.test(name);
      if (isGain) data.fill(shrunk);
      else if (!READS.test(name)) data.fill(0);
      const source = tensors.get(name)!.data;
      const [rows, columns = 1] = old.get(name)!;
      const width = shape[1] ?? 1;
      for (let r = 0; r < rows!; r++)
        for (let c = 0; c < columns; c++)
          data[r * width + c] = source[r * columns + c]! * (isGain ? shrunk : 1);
      return [name, { shape, data }] as const;
    }),
  );
}
