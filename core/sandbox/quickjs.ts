/**
 * The compiled engine of this process. A Worker cannot compile, and a page has no files, so that their entry points give it the module; in Node it is read from
 * `kernels/quickjs.wasm` when a program is first judged.
 */
let given: WebAssembly.Module | undefined;

/** Says which module to use, where there are no files. */
export function provideQuickJs(module: WebAssembly.Module): void {
  given = module;
}

export function quickJs(): WebAssembly.Module {
  given ??= fromFile();
  return given;
}

/** What of Node is used. Workers and pages, whose bundles this file is in, have no such modules to import. */
interface NodeProcess {
  getBuiltinModule?(name: 'node:fs'): { readFileSync(file: URL): Uint8Array<ArrayBuffer> };
}

function fromFile(): WebAssembly.Module {
  const { process } = globalThis as { process?: NodeProcess };
  const files = process?.getBuiltinModule?.('node:fs');
  if (!files)
    throw new Error(
      'internal: this process has no QuickJS; its entry point has to give one to provideQuickJs.',
    );
  const { url } = import.meta as unknown as { readonly url: string };
  const Compiled = WebAssembly.Module as unknown as new (
    bytes: Uint8Array<ArrayBuffer>,
  ) => WebAssembly.Module;
  return new Compiled(files.readFileSync(new URL('../../kernels/quickjs.wasm', url)));
}
