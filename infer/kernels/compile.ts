/**
 * Compiles kernels/assembly/infer to WebAssembly: `npm run build:kernels`. The results are committed, so that a checkout runs without the
 * compiler, and a test compiles again and compares bytes. This module is not needed at run time.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import asc from 'assemblyscript/asc';
import { BUILDS, type Build } from './builds.ts';
import { buildFile } from './node-builds.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Compiles a build and returns the module's bytes. The same sources and compiler version give the same bytes. `shared`: as it imports a memory of
 * several threads, which Node makes of the committed one (`importing-shared.ts`).
 */
export async function compileKernels(build: Build, shared = false): Promise<Uint8Array> {
  const features = [
    ...['simd', 'bulk-memory'],
    ...(build === 'plain' ? [] : ['relaxed-simd']),
    ...(shared ? ['threads'] : []),
  ];
  const files = new Map<string, string | Uint8Array>();
  const { error, stderr } = await asc.main(
    [
      'kernels/assembly/infer/index.ts',
      ...['--baseDir', ROOT, '--outFile', 'kernels.wasm'],
      ...['-O3', '--noAssert', '--runtime', 'stub', '--importMemory'],
      ...(shared ? ['--sharedMemory', '--maximumMemory', '65536'] : []),
      ...['--enable', features.join(','), '--disableWarning', '112'],
      ...['--use', `FUSED=${build === 'fused' ? 1 : 0}`],
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
  for (const build of BUILDS) {
    const binary = await compileKernels(build);
    await writeFile(buildFile(build), binary);
    console.log(`${fileURLToPath(buildFile(build))}: ${binary.length} bytes`);
  }
