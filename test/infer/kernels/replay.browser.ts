/** The replay in a page: one function that answers with a form's digest. */
import { BUILDS } from '../../../infer/kernels/builds.ts';
import type { Form } from '../../../infer/kernels/forms.ts';
import { digestOf } from './replay.ts';

async function replay(form: Form): Promise<string> {
  const modules = await Promise.all(
    BUILDS.map(
      async (build) => [build, await WebAssembly.compileStreaming(fetch(`/${build}.wasm`))] as const,
    ),
  );
  return digestOf(Object.fromEntries(modules), form);
}

Object.assign(globalThis, { replay });
