/**
 * Starts ONNX Runtime in a Worker. Workers may not compile wasm at run time, so the module compiled at deploy time is imported
 * and handed over when the runtime asks for an instance. The local mesh compiles it when it is awaited (local/mesh/onnx-on-demand.ts).
 */
import wasm from 'onnxruntime-web/ort-wasm-simd-threaded.wasm';
import * as ort from 'onnxruntime-web/wasm';
import { type Runtime, startRuntime } from './runtime.ts';

let runtime: Promise<Runtime> | undefined;

/** The isolate's one runtime, started at the first call. */
export async function loadOrt(): Promise<Runtime> {
  const module = await wasm;
  // The bytes may be any: they only keep the runtime from looking for a URL to fetch the module from.
  ort.env.wasm.wasmBinary = new ArrayBuffer(8);
  const { instantiate } = WebAssembly;
  runtime ??= startRuntime(ort, async (_, imports) => ({
    module,
    instance: await instantiate(module, imports),
  }));
  return runtime;
}
