/** The GPU's kernels in tfjs. */
import { type KernelCall as Call, registerOn } from '../kernel-call.ts';
import type { GpuBackend } from './gpu-backend.ts';

export { numbered, passedOn, sizeOf } from '../kernel-call.ts';

export const WEBGPU = 'webgpu';
export type KernelCall = Call<GpuBackend>;
export const register = registerOn<GpuBackend>(WEBGPU);
