/** The tensors that a checkpoint of a given config must have, by their Hugging Face names, and the check that it has them. */
import { wrongInput } from '../core/errors.ts';
import { patchWidth } from '../core/images/patches.ts';
import type { ModelConfig } from './config.ts';
import type { Tensors } from './safetensors.ts';
import type { TensorPiece } from './safetensors-stream.ts';

/** The projection of patches of images into the embeddings [hidden, patchWidth]; only models that see have it. */
export const PATCH_PROJECTION = 'model.vision_embed_tokens.weight';

/**
 * Names and shapes of all weights, linear layers as `[out, in]`, in the canonical order. It is the order of the forward pass, with
 * the parts of a fused projection side by side, so that a file in this order can be used without repacking.
 */
export function tensorShapes(config: ModelConfig): Map<string, readonly number[]> {
  const { hiddenSize: d, intermediateSize: f, vocabSize, headDim } = config;
  const q = config.heads * headDim;
  const kv = config.kvHeads * headDim;
  const shapes = new Map<string, readonly number[]>([['model.embed_tokens.weight', [vocabSize, d]]]);
  if (config.vision) shapes.set(PATCH_PROJECTION, [d, patchWidth(config.vision)]);
  for (const [i, layer] of config.layers.entries()) {
    const at = `model.layers.${i}`;
    const norm = (name: string | null): void => {
      if (name) shapes.set(`${at}.${name}.weight`, [d]);
    };
    norm(layer.norms.attention.before);
    const projections = [
      ['q', q],
      ['k', kv],
      ['v', kv],
    ] as const;
    for (const [name, width] of projections) shapes.set(`${at}.self_attn.${name}_proj.weight`, [width, d]);
    if (layer.qkvBias)
      for (const [name, width] of projections) shapes.set(`${at}.self_attn.${name}_proj.bias`, [width]);
    if (layer.qkNorm)
      for (const [name, width] of projections.slice(0, 2))
        shapes.set(`${at}.self_attn.${name}_norm.weight`, [layer.qkNorm === 'whole' ? width : headDim]);
    shapes.set(`${at}.self_attn.o_proj.weight`, [d, q]);
    norm(layer.norms.attention.after);
    norm(layer.norms.mlp.before);
    shapes.set(`${at}.mlp.gate_proj.weight`, [f, d]);
    shapes.set(`${at}.mlp.up_proj.weight`, [f, d]);
    shapes.set(`${at}.mlp.down_proj.weight`, [d, f]);
    norm(layer.norms.mlp.after);
  }
  shapes.set('model.norm.weight', [d]);
  if (!config.tiedEmbeddings) shapes.set('lm_head.weight', [vocabSize, d]);
  return shapes;
}

/** Number of parameters of a model of this config. */
export const parameterCount = (config: ModelConfig): number =>
  [...tensorShapes(config).values()].reduce((sum, shape) => sum + shape.reduce((a, b) => a * b, 1), 0);

/** True for tensors that some exporters add although they hold no further information: rotary buffers, and a copy of tied embeddings. */
export const isRedundant = (name: string, config: ModelConfig): boolean =>
  name.endsWith('.rotary_emb.inv_freq') || (config.tiedEmbeddings && name === 'lm_head.weight');

export const invalid = (code: string, what: string, expected: string) =>
  wrongInput(code, what, { expected, next: 'Check that config.json and the weights belong together.' });

/** Checks the shape of a tensor, and that `data`, which is all of it or a part, has finite numbers. */
export function checkTensor(
  name: string,
  shape: readonly number[],
  data: Float32Array,
  expected: readonly number[],
): void {
  if (shape.join() !== expected.join())
    throw invalid('checkpoint.shape', `Tensor ${name} has shape [${shape}].`, `[${expected}] by the config`);
  if (allFinite(data)) return;
  const bad = data.findIndex((x) => !Number.isFinite(x));
  throw invalid('checkpoint.not-finite', `Tensor ${name} holds ${data[bad]} at ${bad}.`, 'finite numbers');
}

/** In a plain loop, which a young isolate runs several times as fast as a function for each number: 0 times what is not finite is NaN. */
function allFinite(data: Float32Array): boolean {
  let zero = 0;
  for (let i = 0; i < data.length; i++) zero += 0 * data[i]!;
  return zero === 0;
}

/** Checks a checkpoint that comes piece by piece, as `checkCheckpoint` does one in memory. */
export async function checkPieces(config: ModelConfig, pieces: AsyncIterable<TensorPiece>): Promise<void> {
  const shapes = tensorShapes(config);
  const missing = new Map(shapes);
  for await (const { name, shape, data } of pieces) {
    const expected = shapes.get(name);
    if (expected) checkTensor(name, shape, data, expected);
    else if (!isRedundant(name, config)) throw unexpected(name);
    missing.delete(name);
  }
  for (const [name, shape] of missing) throw lacking(name, shape);
}

const unexpected = (name: string) =>
  invalid('checkpoint.unexpected', `Tensor ${name} belongs to no part of the model.`, 'only known tensors');

const lacking = (name: string, shape: readonly number[]) =>
  invalid('checkpoint.missing', `Tensor ${name} is missing.`, `a tensor [${shape}]`);

/**
 * Checks that the tensors are exactly those of the config and hold finite numbers, and that the tokenizer (when given
 * its size, the highest id plus one) does not name ids beyond the embedding table.
 *
 * @throws RollmeshError `checkpoint.missing`, `checkpoint.unexpected`, `checkpoint.shape`, `checkpoint.not-finite` or `checkpoint.tokenizer`.
 */
export function checkCheckpoint(config: ModelConfig, tensors: Tensors, tokenizerSize?: number): void {
  const shapes = tensorShapes(config);
  for (const [name, shape] of shapes) {
    const tensor = tensors.get(name);
    if (!tensor) throw lacking(name, shape);
    checkTensor(name, tensor.shape, tensor.data, shape);
  }
  for (const name of tensors.keys())
    if (!shapes.has(name) && !isRedundant(name, config)) throw unexpected(name);
  if (tokenizerSize !== undefined && tokenizerSize > config.vocabSize)
    throw invalid(
      'checkpoint.tokenizer',
      `The tokenizer has ids up to ${tokenizerSize - 1}, the model has ${config.vocabSize} embeddings.`,
      'a tokenizer no larger than vocab_size',
    );
}
