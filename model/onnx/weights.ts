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

/**
 * The weight file of a checkpoint that `checkCheckpoint` accepted. Where its tensors already lie one after another, as they
 * do in a safetensors file written in the canonical order, it is that memory, not a copy.
 */
export function packWeights(config: ModelConfig, tensors: Tensors): Uint8Array<ArrayBufferLike> {
  const parts = [...tensorShapes(config).keys()].map((name) => tensors.get(name)!.data);
  const [{ buffer, byteOffset }] = parts as [Float32Array];
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  if (inOneRun(parts)) return new Uint8Array(buffer, byteOffset, 4 * size);
  const out = new Float32Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return new Uint8Array(out.buffer);
}

const inOneRun = (parts: readonly Float32Array[]): boolean =>
  parts.every((part, i) => {
    const before = parts[i - 1];
    return (
      !before || (part.buffer === before.buffer && part.byteOffset === before.byteOffset + before.byteLength)
    );
  });
