/** The engines in a browser: the kernels, in the forms of arithmetic that the browser computes with the bits of every other host. */
import type { Engines } from './engines.ts';
import { BUILDS, type Build } from './kernels/builds.ts';
import { ARITHMETIC, type Form } from './kernels/forms.ts';
import { openKernels } from './kernels/open-kernels.ts';

export interface BrowserEngines {
  readonly engines: Engines;
  /** The forms whose self-test the browser passes; none where it has no SIMD. */
  readonly forms: readonly Form[];
}

/** `binary` fetches a build's bytes; `kernelBytes` is what a policy may take of memory, weights and caches together. */
export async function browserEngines(
  binary: (build: Build) => Promise<ArrayBuffer>,
  kernelBytes: number,
): Promise<BrowserEngines> {
  const compiled = async (build: Build) => {
    const bytes = await binary(build);
    return WebAssembly.validate(bytes) ? await WebAssembly.compile(bytes) : undefined;
  };
  const builds = Object.fromEntries(
    await Promise.all(BUILDS.map(async (build) => [build, await compiled(build)] as const)),
  );
  const forms = (Object.keys(ARITHMETIC) as Form[]).filter((form) => {
    try {
      return Boolean(openKernels(builds, form));
    } catch {
      return false;
    }
  });
  return {
    engines: {
      kernels: () => builds,
      kernelBytes,
      onnx: () => Promise.reject(new Error('internal: this thread has no ONNX Runtime')),
    },
    forms,
  };
}
