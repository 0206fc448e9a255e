/**
 * The layout of a graph's weight file. With type float32 the file has a checkpoint's tensors one after another in the canonical order,
 * each as Hugging Face lays it out; projections that are read by one matrix product (q, k and v) are adjacent and have one name. With
 * int8 or int4, weights of matrix products are stored as blocks (quantize.ts); with w8a8, those of the layers are stored as channels
 * (channels.ts). All other weights are float32. The graph depends on the config alone, and serves every version of a policy.
 */
import type { SmallerWeights } from '../../core/policy/policy.ts';
import { tensorShapes } from '../checkpoint.ts';
import type { ModelConfig } from '../config.ts';
import type { Tensors } from '../safetensors.ts';
import { quantizeChannels } from './channels.ts';
import { type Bits, BLOCK, numbersLength, quantize } from './quantize.ts';

export const WEIGHTS_FILE = 'weights.bin';

export type WeightType = 'float32' | SmallerWeights;

/** Bits of a number in a block. With w8a8, an untied output head is in blocks although the layers are in channels. */
const bitsOf = { float32: undefined, int8: 8, int4: 4, w8a8: 8 } as const;

/** The bytes [offset, offset + length) of the file. */
interface Span {
  readonly offset: number;
  readonly length: number;
}

/** A weight of the graph. */
export interface WeightSlot {
  readonly name: string;
  /** Names of the checkpoint tensors whose rows, one after another, make up the weight. */
  readonly tensors: readonly string[];
  readonly shape: readonly number[];
  readonly span: Span;
  /** Set only for a weight in blocks; its `span` holds the numbers. */
  readonly blocks?: { readonly bits: Bits; readonly scales: Span };
  /** Set only for a weight in channels; its `span` holds the numbers, and `gain` names the weight of the norm before it. */
  readonly channels?: { readonly scales: Span; readonly gain: string | undefined };
}

const fused = /\.self_attn\.[qkv]_proj\.(weight|bias)$/;
const HEAD = 'lm_head.weight';
const product = /(_proj|lm_head)\.weight$/;

/** The name of the norm weight whose output a product in a layer reads; undefined where its input comes from no norm. */
function gainBefore({ layers }: ModelConfig, product: string): string | undefined {
  const [, layer, name] = /^(.*?)\.((?:self_attn|mlp)\..*)$/.exec(product) as unknown as [
    string,
    string,
    string,
  ];
  const { attention, mlp } = layers[Number(layer.split('.').at(-1))]!.norms;
  const before = /qkv/.test(name) ? attention.before : /gate|up/.test(name) ? mlp.before : null;
  return before ? `${layer}.${before}.weight` : undefined;
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
  // Lengths are rounded up to whole words, so that the next span is aligned.
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
        const channels = { gain: gainBefore(config, name), scales: take(4 * rows) };
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
 * The weight file of a checkpoint that `checkCheckpoint` accepted. With float32, if the tensors are already adjacent in memory, as in a
 * safetensors file written in the canonical order, the result is that memory and not a copy.
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
        gain ? tensors.get(gain)!.data.map((x) => x + config.gainOffset) : undefined,
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
