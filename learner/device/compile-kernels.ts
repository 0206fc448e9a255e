/** Compiles the learner's kernels, see `kernels/compile.ts`. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compile } from '../../kernels/compile.ts';
import type { KernelVariant } from './host.ts';
import { kernelFile } from './node-kernel-files.ts';

export const compileKernels = (variant: KernelVariant): Promise<Uint8Array> =>
  compile(
    'kernels/assembly/learner/index.ts',
    ['threads', ...(variant === 'fma' ? ['relaxed-simd'] : [])],
    variant === 'fma',
    ['--sharedMemory', '--maximumMemory', '65536'],
  );

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const variant of ['simd', 'fma'] as const) {
    const binary = await compileKernels(variant);
    await writeFile(kernelFile(variant), binary);
    console.log(`${fileURLToPath(kernelFile(variant))}: ${binary.length} bytes`);
  }
