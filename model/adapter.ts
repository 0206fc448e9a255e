/**
 * Low-rank adapters (Hu et al., "LoRA", 2021) as files. An adapted weight W [out, in] stands for W + (alpha / rank) B A, with A [rank, in]
 * and B [out, rank] under PEFT's names for them; the file's metadata has alpha. Folding is the sum in float64 in a fixed order, rounded
 * once to float32, row by row, so that it has the same bits wherever and in whatever pieces it is done.
 */
import { wrongInput } from '../core/errors.ts';
import { checkTensor, tensorShapes } from './checkpoint.ts';
import type { ModelConfig } from './config.ts';
import {
  readMetadata,
  readSafetensors,
  type StorageType,
  type Tensor,
  type Tensors,
  writeSafetensors,
} from './safetensors.ts';
import type { TensorPiece } from './safetensors-stream.ts';

/** The projections of each layer that an adapter may change. */
export const ADAPTER_TARGETS = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
] as const;

export interface Adapter {
  readonly alpha: number;
  /** `<stem>.lora_A.weight` [rank, in] and `<stem>.lora_B.weight` [out, rank] of each adapted `<stem>.weight`. */
  readonly tensors: Tensors;
}

const ALPHA = 'lora_alpha';

export const adapterNames = (weight: string): { readonly a: string; readonly b: string } => {
  const stem = weight.replace(/\.weight$/, '');
  return { a: `${stem}.lora_A.weight`, b: `${stem}.lora_B.weight` };
};

/** The adapter's file; in a type of 16 bits every number is rounded, and whoever reads the file has the rounded ones. */
export const writeAdapter = ({ alpha, tensors }: Adapter, dtype: StorageType = 'F32'): Uint8Array =>
  writeSafetensors(tensors, dtype, { [ALPHA]: String(alpha) });

/**
 * Reads an adapter's file.
 * @throws RollmeshError `safetensors.*`, or `adapter.alpha` where alpha is missing or no positive number
 */
export function readAdapter(bytes: Uint8Array): Adapter {
  const text = readMetadata(bytes)[ALPHA] ?? null;
  const alpha = Number(text ?? Number.NaN);
  if (!Number.isFinite(alpha) || alpha <= 0)
    throw wrongInput('adapter.alpha', `The adapter's ${ALPHA} is ${JSON.stringify(text)}.`, {
      expected: 'a positive number, as text in the metadata of the file',
    });
  return { alpha, tensors: readSafetensors(bytes) };
}

/** A and B of an adapted weight; undefined for a weight that the adapter leaves as it is. */
function pairOf({ tensors }: Adapter, weight: string): { a: Tensor; b: Tensor } | undefined {
  const names = adapterNames(weight);
  const a = tensors.get(names.a);
  const b = tensors.get(names.b);
  return a && b && { a, b };
}

/** The rank of each adapted weight, by the weight's name. */
export const ranksOf = ({ tensors }: Adapter): Map<string, number> =>
  new Map(
    [...tensors].flatMap(([name, { shape }]): [string, number][] =>
      name.endsWith('.lora_A.weight') ? [[name.replace('.lora_A.', '.'), shape[0]!]] : [],
    ),
  );

/**
 * Checks that an adapter belongs to models of this config.
 * @throws RollmeshError `adapter.tensor` for a tensor without a place, or `checkpoint.shape` and `checkpoint.not-finite`
 */
export function checkAdapter(config: ModelConfig, adapter: Adapter): void {
  const shapes = tensorShapes(config);
  const known = new Set<string>();
  for (const [weight, rank] of ranksOf(adapter)) {
    const target = ADAPTER_TARGETS.some((name) => weight.endsWith(`.${name}.weight`));
    const [out, width] = target ? (shapes.get(weight) ?? []) : [];
    if (out === undefined || width === undefined) continue;
    const names = adapterNames(weight);
    const expected = { [names.a]: [rank, width], [names.b]: [out, rank] };
    for (const [name, shape] of Object.entries(expected)) {
      const tensor = adapter.tensors.get(name);
      if (!tensor) throw noPlace(names.a, `there is no ${name}`);
      checkTensor(name, tensor.shape, tensor.data, shape);
      known.add(name);
    }
  }
  const strange = [...adapter.tensors.keys()].find((name) => !known.has(name));
  if (strange !== undefined) throw noPlace(strange, 'the model has no such projection');
}

const noPlace = (name: string, why: string) =>
  wrongInput('adapter.tensor', `The adapter's tensor ${name} has no place in the model: ${why}.`, {
    expected: `pairs of lora_A and lora_B of ${ADAPTER_TARGETS.join(', ')}`,
    next: 'Check that the adapter was trained on this model.',
  });

/** Rows of a weight with the adapter folded in; the piece itself where the adapter leaves its weight as it is. */
export function foldInto<P extends TensorPiece>(adapter: Adapter, piece: P): P {
  const pair = pairOf(adapter, piece.name);
  if (!pair) return piece;
  const [rank, width] = pair.a.shape as [number, number];
  const scale = adapter.alpha / rank;
  const { data: a } = pair.a;
  const { data: b } = pair.b;
  const rows = piece.data.length / width;
  const data = new Float32Array(piece.data.length);
  const sums = new Float64Array(width);
  for (let row = 0; row < rows; row++) {
    sums.fill(0);
    const factors = b.subarray((piece.row + row) * rank, (piece.row + row + 1) * rank);
    for (let k = 0; k < rank; k += 4) addRows(sums, factors.subarray(k), a, k);
    const at = row * width;
    for (let i = 0; i < width; i++) data[at + i] = piece.data[at + i]! + scale * sums[i]!;
  }
  return { ...piece, data };
}

/**
 * sums [width] += factors[0..4) times the rows of A from `first` on, or times those that are left. The terms are added one after another, as
 * if each row were added by itself; four rows a pass over the sums take three quarters of the time of one.
 */
function addRows(sums: Float64Array, factors: Float32Array, a: Float32Array, first: number): void {
  const width = sums.length;
  const from = first * width;
  if (factors.length >= 4) {
    const [f0, f1, f2, f3] = factors as unknown as [number, number, number, number];
    for (let i = 0, at = from; i < width; i++, at++)
      sums[i] =
        sums[i]! + f0 * a[at]! + f1 * a[at + width]! + f2 * a[at + 2 * width]! + f3 * a[at + 3 * width]!;
    return;
  }
  for (const [k, factor] of factors.entries())
    for (let i = 0, at = from + k * width; i < width; i++, at++) sums[i]! += factor * a[at]!;
}

/** A checkpoint's tensors with the adapter folded in, one after another. */
export function* folded(
  tensors: Iterable<readonly [name: string, tensor: Tensor]>,
  adapter: Adapter | undefined,
): Generator<[name: string, tensor: Tensor]> {
  for (const [name, { shape, data }] of tensors)
    yield [
      name,
      adapter ? { shape, data: foldInto(adapter, { name, shape, row: 0, data }).data } : { shape, data },
    ];
}
