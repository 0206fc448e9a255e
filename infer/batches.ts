/** Cuts requests of any size into batches, and pads rows of different length so that they can share one. */
import { ALIGNMENT, type KeyValues } from './session.ts';

/** Samples of one prompt that are generated in the same batch. */
export interface Group {
  /** The prompt's index in the request. */
  readonly prompt: number;
  readonly ids: readonly number[];
  /** The index of the group's first sample among all samples of the prompt. */
  readonly from: number;
  readonly sampleIds: readonly string[];
}

/** Cuts the samples of each prompt into groups of at most `most`. */
export function groupsOf(
  prompts: readonly { readonly ids: readonly number[]; readonly sampleIds: readonly string[] }[],
  most: number,
): Group[] {
  return prompts.flatMap(({ ids, sampleIds }, prompt) =>
    Array.from({ length: Math.ceil(sampleIds.length / most) }, (_, i) => ({
      prompt,
      ids,
      from: i * most,
      sampleIds: sampleIds.slice(i * most, (i + 1) * most),
    })),
  );
}

/** Batches of at most `most` rows. The groups of a batch have equally many samples and prompts of similar length. */
export function batchesOf(groups: readonly Group[], most: number): Group[][] {
  const sorted = [...groups].sort(
    (a, b) => a.sampleIds.length - b.sampleIds.length || a.ids.length - b.ids.length,
  );
  const batches: Group[][] = [];
  for (const group of sorted) {
    const samples = group.sampleIds.length;
    const batch = batches.at(-1);
    const fits = batch?.[0]?.sampleIds.length === samples && (batch.length + 1) * samples <= most;
    if (batch && fits) batch.push(group);
    else batches.push([group]);
  }
  return batches;
}

/** Sorts items by length and cuts them into chunks within two bounds: padded tokens, and the sum of squared padded lengths. */
export function chunksByLength<Item>(
  items: readonly Item[],
  lengthOf: (item: Item) => number,
  { tokens, squares }: { readonly tokens: number; readonly squares: number },
): Item[][] {
  const sorted = [...items].sort((a, b) => lengthOf(a) - lengthOf(b));
  const chunks: Item[][] = [];
  for (const item of sorted) {
    const chunk = chunks.at(-1);
    const rows = (chunk?.length ?? 0) + 1;
    const length = lengthOf(item);
    if (chunk && rows * length <= tokens && rows * length * length <= squares) chunk.push(item);
    else chunks.push([item]);
  }
  return chunks;
}

/** The length rounded up to a multiple of `ALIGNMENT`, at which padding may end. */
export const alignedLength = (length: number): number => Math.ceil(length / ALIGNMENT) * ALIGNMENT;

/** Pads rows of ids with zeros on the right to the same length and joins them, flat [rows * length]. */
export const padRight = (rows: readonly (readonly number[])[], length: number): number[] =>
  rows.flatMap((row) => [...row, ...new Array<number>(length - row.length).fill(0)]);

/** Joins the caches of several batches of prompts into one, each padded to the longest. */
export function joinCaches(caches: readonly KeyValues[], kvHeads: number, headDim: number): KeyValues {
  const [only] = caches;
  if (only && caches.length === 1) return only;
  const length = Math.max(...caches.map((cache) => cache.length));
  const prompts = caches.reduce((sum, cache) => sum + cache.prompts, 0);
  const tensors = (only?.tensors ?? []).map((_, i) => {
    const joined = new Float32Array(prompts * kvHeads * length * headDim);
    let head = 0;
    for (const cache of caches) {
      const size = cache.length * headDim;
      for (let at = 0; at < cache.tensors[i]!.length; at += size)
        joined.set(cache.tensors[i]!.subarray(at, at + size), head++ * length * headDim);
    }
    return joined;
  });
  return { prompts, length, tensors };
}

/** Rows of `width` numbers each. */
export const rowsOf = (values: Float32Array, width: number): number[][] =>
  Array.from({ length: values.length / width }, (_, row) => [
    ...values.subarray(row * width, (row + 1) * width),
  ]);
