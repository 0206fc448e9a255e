/** The thread of a node in a browser tab: the project's own kernels in a Web Worker. It stores nothing. */
import type { Engines } from '../infer/engines.ts';
import { BUILDS, type Build } from '../infer/kernels/builds.ts';
import { ARITHMETIC, type Form } from '../infer/kernels/forms.ts';
import { openKernels } from '../infer/kernels/open-kernels.ts';
import { type ComputeAnswer, type ComputeCall, Computer } from './compute.ts';

/** What the thread says first: the forms of arithmetic that this browser computes with the bits of every other host. */
export interface TabReady {
  readonly forms: readonly Form[];
}

/** What a policy may take of a tab's memory, of which a browser tells nothing that can be relied on. */
const TAB_BYTES = 512 * 1024 * 1024;

async function compiled(build: Build): Promise<WebAssembly.Module | null> {
  const response = await fetch(`/node/kernels-${build}.wasm`, { cache: 'no-store' });
  const bytes = await response.arrayBuffer();
  return response.ok && WebAssembly.validate(bytes) ? WebAssembly.compile(bytes) : null;
}

async function start(): Promise<void> {
  const modules = await Promise.all(BUILDS.map(async (build) => [build, await compiled(build)] as const));
  const builds = Object.fromEntries(modules.filter(([, module]) => module !== null)) as ReturnType<
    Engines['kernels']
  >;
  const forms = (Object.keys(ARITHMETIC) as Form[]).filter((form) => {
    try {
      return Boolean(openKernels(builds, form));
    } catch {
      return false;
    }
  });
  const computer = new Computer({
    kernels: () => builds,
    kernelBytes: TAB_BYTES,
    onnx: () => Promise.reject(new Error('internal: a tab leases no work for ONNX Runtime')),
  });
  addEventListener('message', ({ data }: MessageEvent<ComputeCall>) => {
    const { call, requests, files } = data;
    computer.compute(requests, files).then(
      (completions) => postMessage({ call, completions } satisfies ComputeAnswer),
      (error: unknown) => postMessage({ call, error: String(error) } satisfies ComputeAnswer),
    );
  });
  postMessage({ forms } satisfies TabReady);
}

void start();
