/**
 * Compiles `assembly/` to WebAssembly: `npm run build:kernels`. The results are committed, so that a checkout runs without the compiler, and tests compile again and compare
 * bytes. This module is not needed at run time.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { TILES } from './tiles.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The module's bytes; the same sources and compiler version give the same bytes. `fused`: with multiply-add in one rounding. */
export async function compile(
  entry: string,
  features: readonly string[],
  fused: boolean,
  flags: readonly string[],
): Promise<Uint8Array> {
  const files = new Map<string, string | Uint8Array>();
  const { error, stderr } = await asc.main(
    [
      entry,
      ...['--baseDir', ROOT, '--outFile', 'kernels.wasm'],
      ...['-O3', '--noAssert', '--runtime', 'stub', '--importMemory', ...flags],
      ...['--enable', ['simd', 'bulk-memory', ...features].join(','), '--disableWarning', '112'],
      ...['--use', `FUSED=${fused ? 1 : 0}`],
    ],
    {
      readFile: async (name, folder) =>
        TILES[name] ?? (await readFile(join(folder, name), 'utf8').catch(() => null)),
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
