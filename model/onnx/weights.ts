/**
 * Where each weight of a graph lies in its weight file. As float32, the file is a checkpoint's tensors one after another in
 * the canonical order, as Hugging Face lays each of them out: projections that are read by one matrix product (q, k and v)
 * lie side by side and are named as one. As int8 or int4, each matrix product's weight is there as blocks (quantize.ts), as w8a8
 * those of the layers as channels (channels.ts), the rest as float32. The graph depends on the config alone, and serves every version of a policy.
 */
import type { SmallerWeights } from '../../core/policy.ts';
import { tensorShapes } from '../checkpoint.ts';
import type { ModelConfig } from '../config.ts';
import type { Tensors } from '../safetensors.ts';
import { quantizeChannels } from './channels.ts';
import { type Bits, BLOCK, numbersLength, quantize } from './quantize.ts';

export const WEIGHTS_FILE = 'weights.bin';

export type WeightType = 'float32' | SmallerWeights;

/** Of the blocks; a head of its own is in blocks beside layers of channels, too. */
const bitsOf = { float32: undefined, int8: 8, int4: 4, w8a8: 8 } as const;

/** Bytes [offset, offset + length) of the file. */
interface Span {
  readonly offset: number;
  readonly length: number;
}

/** A weight of the graph. */
export interface WeightSlot {
  readonly name: string;
  /** Checkpoint tensors it is made of, rows one after another. */
  readonly tensors: readonly string[];
  readonly shape: readonly number[];
  readonly span: Span;
  /** Only for a weight in blocks, whose `span` holds the numbers. */
  readonly blocks?: { readonly bits: Bits; readonly scales: Span };
  /** Only for a weight in channels, whose `span` holds the numbers; `gain` is the weight of the norm before it. */
  readonly channels?: { readonly scales: Span; readonly gain: string | undefined };
}

const fused = /\.self_attn\.[qkv]_proj\.(weight|bias)$/;
const HEAD = 'lm_head.weight';
const product = /(_proj|lm_head)\.weight$/;

/** The weight of the norm that a product in a layer reads from, if it does. */
function gainBefore(product: string): string | undefined {
  const [layer, name] = product.split(/\.(?=self_attn|mlp)/) as [string, string];
  if (name === 'self_attn.qkv_proj.weight') return `${layer}.input_layernorm.weight`;
  return /gate|up/.test(name) ? `${layer}.post_attention_layernorm.weight` : undefined;
}

/** The graph's name of a checkpoint tensor: q, k and v together are `qkv_proj`. */
const slotName = (tensor: string): string => tensor.replace(fused, '.self_attn.qkv_proj.$1');

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** All weights by name; `.self_attn.qkv_proj.weight` is [q + k + v rows, hidden]. */
export function weightSlots(config: ModelConfig, type: WeightType): Map<string, WeightSlot> {
  const parts = new Map<string, { tensors: string[]; shape: readonly number[] }>();
  for (const [tensor, shape] of tensorShapes(config)) {
    const before = parts.get(slotName(tensor));
    parts.set(slotName(tensor), {
      tensors: [...(before?.tensors ?? []), tensor],
      shape: [(before?.shape[0] ?? 0) + shape[0]!, ...shape.slice(1)],
    });
  }
  let end = 0;
  // Whole words, so that what comes after is aligned.
  const take = (length: number): Span => {
    const offset = end;
    end += Math.ceil(length / 4) * 4;
    return { offset, length };
  };
  const bits = bitsOf[type];
  return new Map(
    [...parts].map(([name, part]) => {
      if (!bits || !product.test(name)) return [name, { name, ...part, span: take(4 * sizeOf(part.shape)) }];
      const [rows, columns] = part.shape as [number, number];
      if (type === 'w8a8' && name !== HEAD) {
        const channels = { gain: gainBefore(name), scales: take(4 * rows) };
        return [name, { name, ...part, span: take(rows * columns), channels }];
      }
      const span = take(numbersLength(rows, columns, bits));
      return [
        name,
        { name, ...part, span, blocks: { bits, scales: take(4 * rows * Math.ceil(columns / BLOCK)) } },
      ];
    }),
  );
}

/**
 * The weight file of a checkpoint that `checkCheckpoint` accepted. As float32, where its tensors already lie one after
 * another, as they do in a safetensors file written in the canonical order, it is that memory, not a copy.
 */
export function packWeights(
  config: ModelConfig,
  tensors: Tensors,
  type: WeightType = 'float32',
): Uint8Array<ArrayBufferLike> {
  const slots = [...weightSlots(config, type).values()];
  const dataOf = (slot: WeightSlot): Float32Array[] => slot.tensors.map((name) => tensors.get(name)!.data);
  const size = Math.max(
    ...slots.flatMap(({ span, blocks }) => [endOf(span), blocks ? endOf(blocks.scales) : 0]),
  );
  const all = slots.flatMap(dataOf);
  if (type === 'float32' && inOneRun(all)) return new Uint8Array(all[0]!.buffer, all[0]!.byteOffset, size);
  const out = new Uint8Array(size);
  const put = (span: Span, data: Float32Array | Uint8Array | Int8Array): void =>
    out.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), span.offset);
  for (const slot of slots) {
    const data = joined(dataOf(slot));
    const [rows, columns] = slot.shape as [number, number];
    if (slot.channels) {
      const { gain, scales: span } = slot.channels;
      const { numbers, scales } = quantizeChannels(
        data,
        rows,
        columns,
        gain ? tensors.get(gain)!.data : undefined,
      );
      put(slot.span, numbers);
      put(span, scales);
    } else if (!slot.blocks) put(slot.span, data);
    else {
      const { numbers, scales } = quantize(data, rows, columns, slot.blocks.bits);
      put(slot.span, numbers);
      put(slot.blocks.scales, scales);
    }
  }
  return out;
}

const endOf = ({ offset, length }: Span): number => offset + length;

function joined(parts: readonly Float32Array[]): Float32Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const inOneRun = (parts: readonly Float32Array[]): boolean =>
  parts.every((part, i) => {
    const before = parts[i - 1];
    return !before || (part.buffer === before.buffer && part.byteOffset === endOfView(before));
  });

const endOfView = (view: Float32Array): number => view.byteOffset + view.byteLength;
