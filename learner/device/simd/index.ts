/** Registers the kernels of the CPU device. Once per process: kernels get the backend they run on with each call. */
import * as tf from '../../tfjs.ts';
import { registerAttention } from './attention.ts';
import { registerLogProbs } from './log-probs.ts';
import { registerOptimiser } from './optimiser.ts';
import { registerProducts } from './products.ts';
import { SIMD } from './register.ts';
import { registerRows } from './rows.ts';
import { registerSegments } from './segments.ts';

let registered = false;

export function registerSimdKernels(): void {
  if (registered) return;
  registered = true;
  tf.copyRegisteredKernels('cpu', SIMD);
  registerProducts();
  registerRows();
  registerAttention();
  registerLogProbs();
  registerOptimiser();
  registerSegments();
}
