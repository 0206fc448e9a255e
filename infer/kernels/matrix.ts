/** Lays matrices out for the kernels: in panels of 8 output channels, in float32 or in 8 bits with a scale for each channel. */
import { type Areas, type Heap, roundUp } from './heap.ts';
import type { Kernels } from './kernels.ts';

export interface Matrix {
  /** The number of outputs, a multiple of 8; those beyond the model's own have no meaning. */
  readonly n: number;
  /** The number of inputs. */
  readonly k: number;
  readonly at: number;
  /** The addresses of corrections (i32 [n]) and scales (float32 [n]) of 8-bit weights. */
  readonly corrections: number;
  readonly scales: number;
  /** The bytes from one panel to the next. */
  readonly panel: number;
  readonly int8: boolean;
}

const PANEL = 8;

export function reserve(areas: Areas, outputs: number, k: number, int8: boolean): Matrix {
  const n = roundUp(outputs, PANEL);
  const at = areas.take((int8 ? 1 : 4) * n * k);
  const corrections = int8 ? areas.take(4 * n) : 0;
  const scales = int8 ? areas.take(4 * n) : 0;
  return { n, k, at, corrections, scales, panel: (int8 ? 1 : 4) * PANEL * k, int8 };
}

/** How many numbers are laid out at once, so that the staging area stays small, however large the tensor. */
const STAGED = 1 << 18;

/** Writes the outputs [first, first + data.length / k); `first` is a multiple of 8. */
export function fill(kernels: Kernels, heap: Heap, matrix: Matrix, first: number, data: Float32Array): void {
  const { k, at, corrections, scales, panel, int8 } = matrix;
  const rows = data.length / k;
  const most = Math.max(PANEL, Math.floor(STAGED / k / PANEL) * PANEL);
  const { mark } = heap;
  const staged = heap.take(4 * Math.min(rows, most) * k);
  const room = int8 ? heap.take(Math.min(rows, most) * k) : 0;
  for (let row = 0; row < rows; row += most) {
    const count = Math.min(most, rows - row);
    const to = at + ((first + row) / PANEL) * panel;
    heap.floats(staged, count * k).set(data.subarray(row * k, (row + count) * k));
    if (int8) {
      const offset = 4 * (first + row);
      kernels.quantizeWeights(count, k, staged, to, scales + offset, corrections + offset, room);
    } else kernels.packPanels(to, staged, k, count, k);
  }
  heap.backTo(mark);
}
