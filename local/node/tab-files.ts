/** The files of ONNX Runtime that the page /node serves: of its package, beside the tab's own. */
export const RUNTIME_FILES = {
  wasm: { code: 'ort.wasm.bundle.min.mjs', wasm: 'ort-wasm-simd-threaded.wasm' },
  /** The build that suspends by the browser's own means. The other one is larger than the 25 MiB that a file of a Worker may have. */
  webgpu: { code: 'ort.jspi.bundle.min.mjs', wasm: 'ort-wasm-simd-threaded.jspi.wasm' },
} as const;
