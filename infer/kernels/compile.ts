/** Compiles the kernels of inference, see `kernels/compile.ts`. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compile } from '../../kernels/compile.ts';
import { BUILDS, type Build } from './builds.ts';
import { buildFile } from './node-builds.ts';

/** The bytes of a build. `shared`: as it imports a memory of several threads, which Node makes of the committed one (`importing-shared.ts`). */
export const compileKernels = (build: Build, shared = false): Promise<Uint8Array> =>
  compile(
    'kernels/assembly/infer/index.ts',
    [...(build === 'plain' ? [] : ['relaxed-simd']), ...(shared ? ['threads'] : [])],
    build === 'fused',
    shared ? ['--sharedMemory', '--maximumMemory', '65536'] : [],
  );

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const build of BUILDS) {
    const binary = await compileKernels(build);
    await writeFile(buildFile(build), binary);
    console.log(`${fileURLToPath(buildFile(build))}: ${binary.length} bytes`);
  }
