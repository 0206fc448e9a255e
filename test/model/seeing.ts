/** Models that see, and sequences with images as the engines and as the second implementation read them. */

import type { Image } from '../../core/images/image.ts';
import { imageText, piecesOf } from '../../core/images/patches.ts';
import { Random } from '../../core/random.ts';
import { TINY_ARCHITECTURES } from './architectures.ts';
import type { HfJson, SeenPatch } from './reference.ts';

const vision = { patch_size: 8, rows: 4, columns: 4, token_id: 2 };

/** One with biases and tied embeddings, and one that scales its embeddings and has windows. */
export const SEEING = {
  qwen2: {
    model_type: 'qwen2',
    vocab_size: 40,
    hidden_size: 32,
    intermediate_size: 48,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    max_position_embeddings: 64,
    rms_norm_eps: 1e-6,
    rope_theta: 1e4,
    tie_word_embeddings: true,
    vision,
  },
  gemma3_text: { ...TINY_ARCHITECTURES.gemma3_text, num_hidden_layers: 3, vision },
} as const satisfies Record<string, HfJson & Record<string, unknown>>;
export const SEEING_NAMES = Object.keys(SEEING) as (keyof typeof SEEING)[];

/** An image of random pixels. */
export function anyImage(width: number, height: number, seed: string): Image {
  const random = new Random(seed);
  return { width, height, pixels: Uint8Array.from({ length: 3 * width * height }, () => random.int(256)) };
}

/** The patches of an image, as the second implementation reads them. */
export function patchesOf({ width, height, pixels }: Image): SeenPatch[] {
  const [rows, columns] = [Math.max(3, Math.ceil(height / 8)), Math.max(3, Math.ceil(width / 8))];
  return Array.from({ length: rows * columns }, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const rgb = Array.from({ length: 192 }, (_, at) => {
      const [y, x, colour] = [8 * row + Math.floor(at / 24), 8 * column + Math.floor((at % 24) / 3), at % 3];
      return y < height && x < width ? pixels[3 * (y * width + x) + colour]! : null;
    });
    return { rgb, row, column };
  });
}

/** A sequence of tokens and images, as ids and as the second implementation reads it. */
export function sequenceOf(...parts: readonly (number | Image)[]) {
  const ids = parts.flatMap((part) =>
    typeof part === 'number' ? part : (piecesOf(imageText(part))[1] as number[]),
  );
  const reads = parts.flatMap((part): (number | SeenPatch)[] =>
    typeof part === 'number' ? [part] : patchesOf(part),
  );
  return { ids, reads };
}

/** Sequences that are scored on their last tokens, one without an image among them. */
export const scored = () =>
  [...SEQUENCES, sequenceOf(9, 4, 31, 7, 7, 12)].map((sequence) => ({
    ...sequence,
    from: sequence.ids.length - 3,
  }));

/** The last token of an image stands beside the first of the next in one; the other has an image that is padded on two sides. */
export const SEQUENCES = [
  sequenceOf(3, anyImage(24, 24, 'a'), anyImage(24, 32, 'b'), 5, 9, 30, 11, 7, 21, 22),
  sequenceOf(8, 4, anyImage(27, 21, 'c'), 12, 39, 1),
];
