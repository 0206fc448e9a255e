/**
 * The two committed kernel binaries and the choice between them: fused multiply-add (relaxed SIMD) where the engine has it,
 * plain SIMD everywhere else.
 */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import type { DeviceHost, KernelVariant } from './host.ts';

export const kernelFile = (variant: KernelVariant): URL =>
  new URL(`../../kernels/learner${variant === 'fma' ? '-fma' : ''}.wasm`, import.meta.url);

/**
 * True where the engine compiles relaxed SIMD. Node 20 has it behind a flag, which can still be set at run time before the first
 * such module is compiled; newer engines have it on by default.
 */
function hasFusedMultiplyAdd(): boolean {
  const binary = readFileSync(kernelFile('fma'));
  if (WebAssembly.validate(binary)) return true;
  try {
    setFlagsFromString('--experimental-wasm-relaxed-simd');
  } catch {
    return false; // another engine than V8, or one that no longer knows the flag
  }
  return WebAssembly.validate(binary);
}

export const readKernels: DeviceHost['kernels'] = (fma) => {
  const variant = fma && hasFusedMultiplyAdd() ? 'fma' : 'simd';
  return { binary: readFileSync(kernelFile(variant)), variant };
};
