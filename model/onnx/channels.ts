/**
 * W8A8: matrices of 8-bit integers with a scale for each output channel, for products whose activations are 8-bit integers as well.
 * Such a product takes half the time of one in float32. The activations' scales are fixed, so that a row's result does not depend on
 * other rows: a row is divided by its root mean square, and values beyond a fixed range saturate.
 */

/** Range of activations, in root mean squares of their row, for each kind of input; chosen by the error they leave on the start policy. */
export const RANGES = { normed: 4.5, attended: 6, gated: 10, stream: 10 } as const;
export type Activation = keyof typeof RANGES;

const STEPS = 127;

/** Width of one quantization step of an activation, in root mean squares of its row. */
export const activationScale = (read: Activation): number => RANGES[read] / STEPS;

export interface Channels {
  /** [columns, rows]: transposed, as the matrix product reads it. */
  readonly numbers: Int8Array;
  /** [rows] */
  readonly scales: Float32Array;
}

/** Quantizes a matrix [rows, columns], with each row scaled by its largest value. If `gain` [columns] is given, it multiplies the columns first. */
export function quantizeChannels(
  data: Float32Array,
  rows: number,
  columns: number,
  gain?: Float32Array,
): Channels {
  const at = (row: number, i: number): number => data[row * columns + i]! * (gain?.[i] ?? 1);
  const numbers = new Int8Array(rows * columns);
  const scales = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    let largest = 0;
    for (let i = 0; i < columns; i++) largest = Math.max(largest, Math.abs(at(row, i)));
    scales[row] = largest / STEPS;
    if (largest > 0)
      for (let i = 0; i < columns; i++) numbers[i * rows + row] = Math.round((at(row, i) / largest) * STEPS);
  }
  return { numbers, scales };
}
