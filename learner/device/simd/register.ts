/** The CPU device's kernels in tfjs. */
import { type KernelCall as Call, registerOn } from '../kernel-call.ts';
import type { SimdBackend } from '../simd-backend.ts';

export { numbered, passedOn, sizeOf } from '../kernel-call.ts';

export const SIMD = 'simd';
export type KernelCall = Call<SimdBackend>;
export const register = registerOn<SimdBackend>(SIMD);
