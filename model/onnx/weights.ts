/**
 * Where each weight of a graph lies in its weight file. The file is a checkpoint's float32 tensors one after another in the
 * canonical order, as Hugging Face lays each of them out: projections that are read by one matrix product (q, k and v) lie
 * side by side and are named as one. So the graph depends on the config alone, and serves every version of a policy.
 */
import { tensorShapes } from '../checkpoint.ts';
import type { ModelConfig } from '../config.ts';
import type { Tensors } from '../safetensors.ts';

export const WEIGHTS_FILE = 'weights.bin';

/** A weight of the graph: bytes [offset, offset + length) of the file. */
export interface WeightSlot {
  readonly name: string;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly length: number;
}

const fused = /\.self_attn\.[qkv]_proj\.(weight|bias)$/;

/** The graph's name of a checkpoint tensor: q, k and v together are `qkv_proj`. */
const slotName = (tensor: string): string => tensor.replace(fused, '.self_attn.qkv_proj.$1');

/**
 * Width of a head as the attention node wants it: a multiple of 16. Narrower heads are padded with zeros, in each half, since
 * the rotation pairs the halves.
 */
export const paddedHeadDim = (config: ModelConfig): number => Math.ceil(config.headDim / 16) * 16;

const paddedShapes = (config: ModelConfig): Map<string, readonly number[]> =>
  tensorShapes({ ...config, headDim: paddedHeadDim(config) });

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** All weights by name; `.self_attn.qkv_proj.weight` is [q + k + v rows, hidden]. */
export function weightSlots(config: ModelConfig): Map<string, WeightSlot> {
  const slots = new Map<string, WeightSlot>();
  let offset = 0;
  for (const [tensor, shape] of paddedShapes(config)) {
    const name = slotName(tensor);
    const length = 4 * sizeOf(shape);
    const before = slots.get(name);
    slots.set(name, {
      name,
      shape: before ? [before.shape[0]! + shape[0]!, ...shape.slice(1)] : shape,
      offset: before?.offset ?? offset,
      length: length + (before?.length ?? 0),
    });
    offset += length;
  }
  return slots;
}

/** Copies [outer, headDim, inner] into zeros [outer, padded, inner], each half of a head to the start of its new half. */
function padHeads(
  from: Float32Array,
  to: Float32Array,
  headDim: number,
  padded: number,
  inner: number,
): void {
  const half = (headDim / 2) * inner;
  for (let i = 0; i * half < from.length; i++)
    to.set(from.subarray(i * half, (i + 1) * half), i * (padded / 2) * inner);
}

/** The weight file of a checkpoint that `checkCheckpoint` accepted. */
export function packWeights(config: ModelConfig, tensors: Tensors): Uint8Array {
  const shapes = paddedShapes(config);
  const out = new Float32Array([...shapes.values()].reduce((sum, shape) => sum + sizeOf(shape), 0));
  const padded = paddedHeadDim(config);
  let at = 0;
  for (const [name, shape] of shapes) {
    const { data } = tensors.get(name)!;
    const to = out.subarray(at, at + sizeOf(shape));
    at += to.length;
    if (data.length === to.length) to.set(data);
    // Of the tensors with heads, q, k and v weights have them in rows; in all others they are the last axis.
    else padHeads(data, to, config.headDim, padded, /[qkv]_proj\.weight$/.test(name) ? config.hiddenSize : 1);
    // The mean square over a padded head is smaller by headDim / padded (see `headNormEps` for the other half of this).
    if (/[qk]_norm\.weight$/.test(name) && padded !== config.headDim)
      for (let i = 0; i < to.length; i++) to[i]! *= Math.sqrt(config.headDim / padded);
  }
  return new Uint8Array(out.buffer);
}

/** The epsilon of q and k norms over padded heads. */
export const headNormEps = (config: ModelConfig): number =>
  (config.rmsNormEps * config.headDim) / paddedHeadDim(config);
