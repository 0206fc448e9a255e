/**
 * Compiles kernels/assembly/learner to WebAssembly: `npm run build:kernels`. The two results are committed, so that a checkout runs without
 * the compiler; a test compiles again and compares bytes. This file is not needed at run time.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import asc from 'assemblyscript/asc';
import type { KernelVariant } from './host.ts';
import { kernelFile } from './node-kernel-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The module's bytes; the same sources and compiler version give the same bytes. */
export async function compileKernels(variant: KernelVariant): Promise<Uint8Array> {
  const features = ['simd', 'threads', 'bulk-memory', ...(variant === 'fma' ? ['relaxed-simd'] : [])];
  const files = new Map<string, string | Uint8Array>();
  const { error, stderr } = await asc.main(
    [
      'kernels/assembly/learner/index.ts',
      ...['--baseDir', ROOT, '--outFile', 'kernels.wasm'],
      ...['-O3', '--noAssert', '--runtime', 'stub'],
      ...['--importMemory', '--sharedMemory', '--maximumMemory', '65536'],
      ...['--enable', features.join(','), '--disableWarning', '112'],
      ...['--use', `FUSED=${variant === 'fma' ? 1 : 0}`],
    ],
    {
      writeFile: (name, contents) => {
        files.set(name, contents);
      },
    },
  );
  const binary = files.get('kernels.wasm');
  if (error || !(binary instanceof Uint8Array))
    throw new Error(`internal: the kernels do not compile.\n${stderr.toString()}`, { cause: error });
  return binary;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const variant of ['simd', 'fma'] as const) {
    const binary = await compileKernels(variant);
    await writeFile(kernelFile(variant), binary);
    console.log(`${fileURLToPath(kernelFile(variant))}: ${binary.length} bytes`);
  }
