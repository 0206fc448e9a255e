/**
 * W8A8: matrices of 8-bit integers with a scale for each output channel, for products in which the activations are 8-bit integers,
 * too. Such a product takes half the time of one in float32. The activations' scales are fixed, so that a row's result depends on no
 * other row: rows go in as multiples of their root mean square, and what is beyond a range of that saturates.
 */

/** Largest activation that is told apart, in root mean squares of its row, by what a product reads. Chosen by the error they leave on the start policy. */
export const RANGES = { normed: 4.5, attended: 6, gated: 10 } as const;
export type Activation = keyof typeof RANGES;

const STEPS = 127;

/** What one step of an activation stands for. */
export const activationScale = (read: Activation): number => RANGES[read] / STEPS;

export interface Channels {
  /** [columns, rows]: turned round, as the product reads it. */
  readonly numbers: Int8Array;
  /** [rows] */
  readonly scales: Float32Array;
}

/** Rounds a matrix [rows, columns], each row by its largest value. Its columns are multiplied by `gain` [columns] before, if there is one. */
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
