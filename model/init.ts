/** Makes a new checkpoint with seeded random weights, for the start of a warm start and for models of tests and benchmarks. */
import { Random } from '../core/random.ts';
import { PATCH_PROJECTION, tensorShapes } from './checkpoint.ts';
import type { ModelConfig } from './config.ts';
import type { Tensor, Tensors } from './safetensors.ts';

/** Projections that write to the residual stream start smaller, so that its variance does not grow with depth (GPT-2). */
const RESIDUAL = /(?:o_proj|down_proj)\.weight$/;

/**
 * Makes one tensor after the other, in the canonical order. Matrices are normal with deviation 1/sqrt(inputs), embeddings 1/sqrt(hidden
 * size) or `embeddings`, norm gains 1 (0 where 1 is added to them), biases 0. The same seed gives the same bytes.
 */
export function* randomTensors(
  config: ModelConfig,
  seed: string,
  { embeddings = config.hiddenSize ** -0.5 }: { readonly embeddings?: number } = {},
): Generator<[name: string, tensor: Tensor]> {
  for (const [name, shape] of tensorShapes(config)) {
    const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
    if (shape.length === 1) data.fill(name.endsWith('bias') ? 0 : 1 - config.gainOffset);
    else {
      const random = new Random(`init/${seed}/${name}`);
      const plain = shape[1]! ** -0.5;
      // What a patch is projected to is about as long as the embedding of a token.
      const deviation =
        name === PATCH_PROJECTION
          ? embeddings * plain
          : name.includes('embed_tokens')
            ? embeddings
            : plain / (RESIDUAL.test(name) ? Math.sqrt(2 * config.layers.length) : 1);
      for (let i = 0; i < data.length; i++) data[i] = deviation * random.normal();
    }
    yield [name, { shape: [...shape], data }];
  }
}

/** All of them, in memory. */
export const randomCheckpoint = (...made: Parameters<typeof randomTensors>): Tensors =>
  new Map(randomTensors(...made));
