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

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** All weights by name; `.self_attn.qkv_proj.weight` is [q + k + v rows, hidden]. */
export function weightSlots(config: ModelConfig): Map<string, WeightSlot> {
  const slots = new Map<string, WeightSlot>();
  let offset = 0;
  for (const [tensor, shape] of tensorShapes(config)) {
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

/** The weight file of a checkpoint that `checkCheckpoint` accepted. */
export function packWeights(config: ModelConfig, tensors: Tensors): Uint8Array<ArrayBuffer> {
  const shapes = tensorShapes(config);
  const out = new Float32Array([...shapes.values()].reduce((sum, shape) => sum + sizeOf(shape), 0));
  let at = 0;
  for (const name of shapes.keys()) {
    const { data } = tensors.get(name)!;
    out.set(data, at);
    at += data.length;
  }
  return new Uint8Array(out.buffer);
}
