/** Starts ONNX Runtime in Node: the package's wasm build, on one thread. */
import * as ort from 'onnxruntime-web/wasm';
import { type Runtime, startRuntime } from './runtime.ts';

let runtime: Promise<Runtime> | undefined;

/** The process's one runtime, started at the first call. */
export function loadOrt(): Promise<Runtime> {
  runtime ??= startRuntime(ort, WebAssembly.instantiate);
  return runtime;
}
