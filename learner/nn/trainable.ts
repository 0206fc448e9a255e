/** Anything an optimiser can train: named tensors on the device, changed in place. */
import type { Tensors } from '../../model/safetensors.ts';
import * as tf from '../tfjs.ts';

export interface Trainable {
  /** In a fixed order; the optimiser changes the tensors' values, never the map. */
  readonly tensors: ReadonlyMap<string, tf.Tensor>;
}

/** Several sets trained by one optimiser, such as a policy and its value head. Names must differ. */
export function together(...sets: readonly Trainable[]): Trainable {
  const all = sets.flatMap(({ tensors }) => [...tensors]);
  const tensors = new Map(all);
  if (tensors.size !== all.length) throw new Error('internal: two sets that train together share a name.');
  return { tensors };
}

/** The values, read from the device. */
export async function readTensors({ tensors }: Trainable): Promise<Tensors> {
  const out: Tensors = new Map();
  for (const [name, t] of tensors)
    out.set(name, { shape: [...t.shape], data: (await t.data()) as Float32Array });
  return out;
}

/** Puts tensors on the device, where they stay until they are disposed. */
export const placeTensors = (
  tensors: Iterable<readonly [string, { readonly shape: readonly number[]; readonly data: Float32Array }]>,
): Map<string, tf.Tensor> =>
  new Map(
    Array.from(tensors, ([name, { shape, data }]) => [name, tf.keep(tf.tensor(data, [...shape], 'float32'))]),
  );
