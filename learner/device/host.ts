/** What the learner's devices need of the program that they run in, Node or a browser. Each has a side: node-host.ts and browser-host.ts. */
import type { GpuFeature } from './webgpu/adapter.ts';
import type { openGpuBackend } from './webgpu/index.ts';

/** The kernels' builds: fused multiply-add (relaxed SIMD), or plain SIMD. */
export type KernelVariant = 'simd' | 'fma';

export interface DeviceHost {
  /** Threads that the CPU device takes where none are asked for, the calling one included. */
  readonly threads: number;
  /** The bytes of the best build that the engine accepts; plain SIMD where `fma` is false. */
  kernels(fma: boolean): { readonly binary: Uint8Array<ArrayBuffer>; readonly variant: KernelVariant };
  /** Lets the engine pair 128-bit operations from now on (node-revectorizer.ts). False where it cannot be told to. */
  pairOperations(): boolean;
  /**
   * Starts a thread that runs `source`, a script in which `w` is `data` and `ready()` is to be called once. Resolves when it was called; the thread
   * does not keep the program alive.
   */
  startThread(source: string, data: unknown): Promise<void>;
  /** Bytes of memory that the system has left; infinite where it does not tell. */
  availableBytes(): number;
  /** Opens the GPU backend, or says why there is no GPU. */
  openGpu(features?: readonly GpuFeature[]): ReturnType<typeof openGpuBackend>;
}
