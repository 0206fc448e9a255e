/**
 * What a training step keeps on the device for its backward pass, estimated from the model's config: whether a micro-batch's blocks are
 * recomputed and its logits kept follows from it and from the memory there is, and how many tokens a micro-batch has from the config alone.
 */
import type { ModelConfig } from '../../model/config.ts';

/** Activations of one micro-batch whose blocks are recomputed, bytes. */
const MICRO_BATCH_BYTES = 512 * 1024 ** 2;
/** Activations of one micro-batch of an adapter, whose blocks are kept where the device has room for them, bytes. */
const KEPT_BYTES = 2 * 1024 ** 3;
const MOST_TOKENS = 8192;
/** Logits of a block of rows, their gradient, and what kernels use for themselves. */
const SPARE_BYTES = 256 * 1024 ** 2;

/** Float32 values that one layer keeps for a token: residuals, normed inputs and outputs, q, k, v, the attention's output and the three parts of the gated MLP. */
function blockValues({ hiddenSize, intermediateSize, heads, kvHeads, headDim, layers }: ModelConfig): number {
  const projected = (heads + kvHeads) * headDim;
  const normed = layers.some(({ qkNorm }) => qkNorm) ? 3 : 2;
  const streams = layers.some(({ norms }) => norms.attention.after) ? 6 : 4;
  return streams * hiddenSize + normed * projected + 3 * intermediateSize;
}

/**
 * Most bytes that the forward and backward pass hold for a token of a micro-batch. With `recompute` that is the input of every block and
 * one block at work; otherwise all blocks are kept. Tensors of the block at work are counted twice, for their gradients.
 */
export function activationBytes(config: ModelConfig, recompute: boolean): number {
  const kept = recompute ? config.hiddenSize : blockValues(config);
  return 4 * (config.layers.length * kept + 2 * blockValues(config));
}

/**
 * Most tokens of a micro-batch. It depends on the config and not on the machine, because gradients are summed by micro-batch: another
 * cut gives other bits, and a version must be the same wherever it is trained again.
 */
export const microBatchTokens = (config: ModelConfig): number =>
  Math.min(MOST_TOKENS, Math.max(1, Math.floor(MICRO_BATCH_BYTES / activationBytes(config, true))));

/**
 * Most tokens of a micro-batch of an adapter. Its gradients are small and summing them costs nothing, so that micro-batches are cut until no block
 * needs to be recomputed, which would be a third of the step's products.
 */
export const adapterTokens = (config: ModelConfig): number =>
  Math.max(1, Math.min(microBatchTokens(config), Math.floor(KEPT_BYTES / activationBytes(config, false))));

/**
 * Whether a micro-batch of so many tokens fits what the device has left only if its blocks are recomputed in the backward pass. The
 * bits are the same either way. `trainedBytes`: size of what is trained, whose gradients are held once for the micro-batch and once for the sum.
 */
export const mustRecompute = (
  config: ModelConfig,
  tokens: number,
  trainedBytes: number,
  roomBytes: number,
): boolean => tokens * activationBytes(config, false) + 2 * trainedBytes + SPARE_BYTES > roomBytes;

/**
 * Whether all logits of a micro-batch's scored tokens can be kept for the backward pass besides all blocks, which come first. The bits
 * are the same either way.
 */
export const mayKeepLogits = (
  config: ModelConfig,
  tokens: number,
  scored: number,
  trainedBytes: number,
  roomBytes: number,
): boolean => !mustRecompute(config, tokens, trainedBytes, roomBytes - 4 * scored * config.vocabSize);
