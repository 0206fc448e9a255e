/**
 * Tests whether a build computes correctly on this host. Relaxed instructions may differ by host: a multiply-add may round once or twice, and
 * V8 before 12 (Node 20) computes the relaxed dot product wrongly in code that it has not optimised yet. No self-test on warm code finds
 * the latter, so Node's loader leaves that build out by V8's version, and this test checks the rest.
 */
import type { Build } from './builds.ts';
import type { KernelInstance } from './kernels.ts';

/** Whether multiply-adds round once: (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, which is lost if the product is rounded before the sum. */
const isFused = ({ kernels }: KernelInstance): boolean =>
  kernels.probeMadd(1 + 2 ** -12, 1 + 2 ** -12, -(1 + 2 ** -11)) === 2 ** -24;

/** The extremes of 8-bit weights and of 7-bit activations, and values in between. */
const WEIGHTS = [-127, 127, -1, 1, -127, -127, -127, -127, 127, 127, 127, 127, 5, -77, 126, -3];
const ACTIVATIONS = [127, 127, 127, 1, 127, 127, 127, 127, 127, 127, 127, 127, 64, 9, 101, 127];

function isExactDot({ kernels, heap }: KernelInstance): boolean {
  const { mark } = heap;
  const at = heap.take(48);
  new Int8Array(heap.memory.buffer, at, 16).set(WEIGHTS);
  new Int8Array(heap.memory.buffer, at + 16, 16).set(ACTIVATIONS);
  const sums = heap.integers(at + 32, 4).fill(1000);
  kernels.probeDot(at, at + 16, at + 32);
  heap.backTo(mark);
  return sums.every(
    (sum, lane) =>
      sum ===
      [0, 1, 2, 3].reduce((all, i) => all + WEIGHTS[4 * lane + i]! * ACTIVATIONS[4 * lane + i]!, 1000),
  );
}

/** What is wrong with a build on this host; undefined if nothing is. */
export function faultOf(build: Build, instance: KernelInstance): string | undefined {
  if (!isExactDot(instance)) return 'its dot product of bytes is wrong';
  if (isFused(instance) !== (build === 'fused'))
    return build === 'fused' ? 'its multiply-adds round twice' : 'its multiply-adds are fused';
  return undefined;
}
