/**
 * Has the Workers of the local mesh compile ONNX Runtime's wasm when they first sample with it. A deployed Worker has it compiled when it is
 * deployed. Here it would be 14 MB in each of three Workers, whose compilation takes a quarter of a start's processor time, also where only the
 * kernels sample.
 */
import { basename, dirname } from 'node:path';
import type { WorkerOptions } from 'miniflare';
import type { BundledModule, BundledWorker } from './bundle.ts';

const RUNTIME = /^ort-wasm[\w.-]*\.wasm$/;

/** Bindings of a Worker: what serves the file, and what compiles its bytes. */
const FILES = 'ONNX_RUNTIME_FILES';
const COMPILER = 'WASM_COMPILER';

/**
 * The module in the place of the wasm: its default export is awaited, and gives the compiled module. Each caller asks for the bytes by itself until
 * the module is there, since what a request of a Worker waits for may end with that request.
 */
const code = (name: string): string => `
  import { env } from 'cloudflare:workers';
  let compiled;
  const compile = async () => {
    const file = await env.${FILES}.fetch('http://files/${name}');
    if (!file.ok) throw new Error('internal: ${name} was not served: ' + file.status);
    const bytes = await file.arrayBuffer();
    compiled ??= env.${COMPILER}.newWasmModule(bytes);
    return compiled;
  };
  export default { then: (resolve, reject) => (compiled ? resolve(compiled) : compile().then(resolve, reject)) };
`;

/** The modules of a Worker and the bindings that they need beside its own. */
export function withOnnxOnDemand({ root, modules }: BundledWorker): WorkerOptions {
  const runtime = modules.find(({ file }) => file !== undefined && RUNTIME.test(basename(file)))?.file;
  if (runtime === undefined) return { modulesRoot: root, modules };
  const onDemand = (module: BundledModule): BundledModule =>
    module.file === runtime
      ? { type: 'ESModule', path: module.path, contents: code(basename(runtime)) }
      : module;
  return {
    modulesRoot: root,
    modules: modules.map(onDemand),
    serviceBindings: { [FILES]: { disk: { path: dirname(runtime), writable: false } } },
    unsafeEvalBinding: COMPILER,
  };
}
