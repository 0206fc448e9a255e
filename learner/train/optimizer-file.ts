/** The optimiser's state as a safetensors file, so that a version holds all that the next round's training needs. */
import { readSafetensors, writeSafetensors } from '../../model/safetensors.ts';
import type { AdamWState } from '../nn/adamw.ts';

/** The number of updates is stored as float32, which is exact up to 2^24. */
const STEP = 'step';

export const writeOptimizer = ({ step, tensors }: AdamWState): Uint8Array =>
  writeSafetensors(new Map([...tensors, [STEP, { shape: [1], data: Float32Array.of(step) }]]));

/** Throws `wrong-input` where the file is no optimiser state (see AdamW.importState for one of another model). */
export function readOptimizer(bytes: Uint8Array): AdamWState {
  const tensors = readSafetensors(bytes);
  const step = tensors.get(STEP)?.data[0] ?? 0;
  tensors.delete(STEP);
  return { step, tensors };
}
