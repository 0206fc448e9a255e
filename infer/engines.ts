/** The engines with which a process computes policies. Each is loaded when a policy first asks for it. */
import type { Builds } from './kernels/builds.ts';
import type { Runtime } from './runtime.ts';

export interface Engines {
  readonly onnx: () => Promise<Runtime>;
  readonly kernels: () => Builds;
  /** The memory that a policy of the kernels may take here, weights and caches together, bytes. */
  readonly kernelBytes: number;
}
