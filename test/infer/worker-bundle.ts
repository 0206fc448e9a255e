/** Bundles a Worker of the tests and starts it in workerd, the one wasm that it imports as a precompiled module: ONNX Runtime's, if no other is named. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Miniflare } from 'miniflare';
import { build } from '../../local/mesh/esbuild.ts';

export const wasmPath = createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm');

/** The bundled source of an entry file; wasm imports are left as `./ort.wasm`. */
export async function bundleWorker(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'module', 'worker_threads', 'os', 'fs', 'path', 'util', 'url', 'perf_hooks'],
    logLevel: 'error',
    plugins: [
      {
        name: 'wasm-module',
        setup: ({ onResolve }) =>
          onResolve({ filter: /\.wasm$/ }, () => ({ path: './ort.wasm', external: true })),
      },
    ],
  });
  return outputFiles[0]!.text;
}

export async function startWorker(entry: string, wasm: string | URL = wasmPath): Promise<Miniflare> {
  const script = await bundleWorker(entry);
  return new Miniflare({
    modules: [
      { type: 'ESModule', path: 'worker.mjs', contents: script },
      { type: 'CompiledWasm', path: 'ort.wasm', contents: readFileSync(wasm) },
    ],
    compatibilityDate: '2026-04-01',
    compatibilityFlags: ['nodejs_compat'],
    cf: false,
  });
}
