/**
 * Tries the products of a build in which pairs of 128-bit operations run as one (`node-revectorizer.ts`), in every tile: in float32 against chains of single
 * multiply-adds of the same build, so that each rounding must agree, and in integers against products worked out in JavaScript.
 */
import type { KernelInstance } from './kernels.ts';

/** Four panels of columns, which the widest tile takes, and one more. */
const COLUMNS = 40;
const DEPTH = 16;
/** Numbers of rows with which every tile is taken. */
const ROWS = [1, 8, 11] as const;
const TIMED_ROWS = 16;
/** How often each product is timed; the best time counts. */
const TIMES = 20;

/** Integers from `least` to `most` in an order that a wrong lane would not keep. */
const integers = (count: number, least: number, most: number): number[] =>
  Array.from(
    { length: count },
    (_, i) => least + ((Math.imul(i + 1, 2654435761) >>> 9) % (most - least + 1)),
  );

/** The index of a value of a right side in panels of 8 columns, with `word` neighbours in depth together. */
const inPanels = (k: number, column: number, word: number): number =>
  (((column >> 3) * (DEPTH / word) + Math.floor(k / word)) * 8 + (column & 7)) * word + (k % word);

/** Row `row` of A [rows, DEPTH] by a column of B [DEPTH, COLUMNS]. */
function dot(a: readonly number[], row: number, b: readonly number[], column: number): number {
  let sum = 0;
  for (let k = 0; k < DEPTH; k++) sum += a[row * DEPTH + k]! * b[k * COLUMNS + column]!;
  return sum;
}

/** Whether `multiply`, called with the address of C, leaves there what `expected` says of a value that was there, or of 0 if nothing is to be added. */
function isRight(
  { heap }: KernelInstance,
  rows: number,
  expected: (row: number, column: number, before: number) => number,
  multiply: (c: number, add: 0 | 1) => void,
): boolean {
  const before = integers(rows * COLUMNS, -99, 99);
  const c = heap.put(Float32Array.from(before));
  return ([1, 0] as const).every((add) => {
    heap.floats(c, before.length).set(before);
    multiply(c, add);
    return heap
      .floats(c, before.length)
      .every((y, i) => y === expected(Math.floor(i / COLUMNS), i % COLUMNS, add * before[i]!));
  });
}

/** Values of which nearly every product and sum is rounded. */
const rounded = (count: number, seed: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(seed + i));

function isFloatRight(instance: KernelInstance, rows: number): boolean {
  const { kernels, heap } = instance;
  const [a, b] = [rounded(rows * DEPTH, 1), rounded(DEPTH * COLUMNS, 2)];
  const panels = new Float32Array(b.length);
  b.forEach((x, i) => {
    panels[inPanels(Math.floor(i / COLUMNS), i % COLUMNS, 1)] = x;
  });
  const [left, right] = [heap.put(a), heap.put(panels)];
  kernels.setScratch(heap.take(4 * a.length));
  const chain = (row: number, column: number, before: number): number => {
    let sum = before;
    for (let k = 0; k < DEPTH; k++)
      sum = kernels.probeMadd(a[row * DEPTH + k]!, b[k * COLUMNS + column]!, sum);
    return sum;
  };
  return isRight(instance, rows, chain, (c, add) =>
    kernels.linear(rows, COLUMNS, DEPTH, left, DEPTH, right, 4 * 8 * DEPTH, c, COLUMNS, add),
  );
}

/** Activations of 7 bits in one plane or two, weights of 8 bits; scales are powers of two, so that only the last sum is rounded. */
function areIntegersRight(instance: KernelInstance, rows: number, planes: 1 | 2): boolean {
  const { kernels, heap } = instance;
  const [a, b] = [integers(planes * rows * DEPTH, 0, 127), integers(DEPTH * COLUMNS, -30, 30)];
  const corrections = integers(COLUMNS, -500, 500);
  const [rowScale, columnScale] = [(row: number) => 2 ** (row % 3), (column: number) => 2 ** -(column % 4)];
  const bytes = (count: number): readonly [number, Int8Array] => {
    const at = heap.take(count);
    return [at, new Int8Array(heap.memory.buffer, at, count)];
  };
  const [left, leftBytes] = bytes(a.length);
  leftBytes.set(a);
  const [right, rightBytes] = bytes(b.length);
  b.forEach((x, i) => {
    rightBytes[inPanels(Math.floor(i / COLUMNS), i % COLUMNS, 4)] = x;
  });
  const correctionsAt = heap.take(4 * COLUMNS);
  heap.integers(correctionsAt, COLUMNS).set(corrections);
  const rowScales = heap.put(Float32Array.from({ length: rows }, (_, row) => rowScale(row)));
  const columnScales = heap.put(Float32Array.from({ length: COLUMNS }, (_, column) => columnScale(column)));
  kernels.setScratch(heap.take(a.length));
  const sum = (row: number, column: number): number => {
    const high = corrections[column]! + dot(a, planes * row, b, column);
    return planes === 2 ? 64 * high + dot(a, 2 * row + 1, b, column) : high;
  };
  return isRight(
    instance,
    rows,
    (row, column, before) => Math.fround(before + sum(row, column) * rowScale(row) * columnScale(column)),
    (c, add) =>
      kernels.linearInt8(
        ...[rows, COLUMNS, DEPTH, left, rowScales, right, correctionsAt, columnScales, c, COLUMNS],
        ...[add, planes - 1],
      ),
  );
}

/** Whether the products of an instance are right: those of float32, in narrow tiles and in wide ones, and with `bytes` those of integers. */
export function areProductsRight(instance: KernelInstance, bytes: boolean): boolean {
  const { heap, kernels } = instance;
  const { mark } = heap;
  const right = [1, 0].every((wide) => {
    kernels.setWideTiles(wide);
    return ROWS.every((rows) => isFloatRight(instance, rows));
  });
  const all =
    right &&
    (!bytes ||
      ROWS.every((rows) => areIntegersRight(instance, rows, 1) && areIntegersRight(instance, rows, 2)));
  heap.backTo(mark);
  return all;
}

/** Whether float32 is faster in wide tiles, which it is only where pairs run as one. */
export function wideTilesPay({ kernels, heap }: KernelInstance): boolean {
  const size = 96;
  const { mark } = heap;
  const [a, b, c, scratch] = [TIMED_ROWS, size, TIMED_ROWS, TIMED_ROWS].map((rows) =>
    heap.take(4 * rows * size),
  );
  heap.floats(a!, TIMED_ROWS * size).fill(1);
  heap.floats(b!, size * size).fill(1);
  kernels.setScratch(scratch!);
  const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let i = 0; i < TIMES; i++)
    for (const wide of [0, 1]) {
      kernels.setWideTiles(wide);
      const began = performance.now();
      kernels.linear(TIMED_ROWS, size, size, a!, size, b!, 4 * 8 * size, c!, size, 0);
      best[wide] = Math.min(best[wide]!, performance.now() - began);
    }
  heap.backTo(mark);
  return best[1]! < best[0]!;
}
