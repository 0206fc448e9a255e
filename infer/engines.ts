/** The engines with which a process computes policies. Each is loaded when a policy first asks for it. */
import type { PolicyRef } from '../core/policy/policy.ts';
import type { Builds } from './kernels/builds.ts';
import type { SharedWeights } from './kernels/shared-weights.ts';
import type { Runtime } from './runtime.ts';

export interface Engines {
  readonly onnx: () => Promise<Runtime>;
  readonly kernels: () => Builds;
  /** The memory that a policy of the kernels may take here, weights and caches together, bytes. */
  readonly kernelBytes: number;
  /** Where the weights of a policy of the kernels lie for all threads of a process; absent, or without an answer: in a memory of their own. */
  readonly shared?: (ref: PolicyRef) => SharedWeights | undefined;
}
