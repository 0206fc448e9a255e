/** ONNX Runtime in a browser tab: its wasm build, with the bits of every other host, or the build that computes by WebGPU. */
import type * as Ort from 'onnxruntime-web/wasm';
import type { Engines } from '../../infer/engines.ts';
import { emptyModel, inTurns, type Runtime, startRuntime } from '../../infer/runtime.ts';
import { RUNTIME_FILES } from './tab-files.ts';

/** Said to the person at the page. */
const missing = (file: string) =>
  new Error(
    `This mesh does not serve ${file}: rollmesh was installed without it (the package brings no build for WebGPU), or where it may not write. Choose another engine.`,
  );

/** Nothing of it is kept by the browser. */
async function fetched(file: string): Promise<ArrayBuffer> {
  const response = await fetch(`/node/${file}`, { cache: 'no-store' });
  if (!response.ok) throw missing(file);
  return response.arrayBuffer();
}

async function load(which: keyof typeof RUNTIME_FILES): Promise<typeof Ort> {
  const { code, wasm } = RUNTIME_FILES[which];
  const binary = await fetched(wasm);
  const ort = (await import(`/node/${code}`).catch(() => Promise.reject(missing(code)))) as typeof Ort;
  ort.env.wasm.wasmBinary = binary;
  return ort;
}

const onlyOnnx = (onnx: Engines['onnx']): Engines => ({
  onnx,
  kernels: () => {
    throw new Error('internal: this thread has no kernels');
  },
  kernelBytes: 0,
});

export async function wasmEngines(): Promise<Engines> {
  const runtime = await startRuntime(await load('wasm'), WebAssembly.instantiate);
  return onlyOnnx(async () => runtime);
}

interface Gpu {
  requestAdapter(): Promise<object | null>;
}

/** @throws Error that says what this browser lacks */
export async function gpuEngines(): Promise<Engines> {
  const { gpu } = navigator as { readonly gpu?: Gpu };
  if (!gpu) throw new Error('This browser has no WebGPU. Choose another engine, or a browser that has it.');
  if (!(await gpu.requestAdapter()))
    throw new Error('This browser has WebGPU and finds no GPU for it. Choose another engine.');
  if (!('Suspending' in WebAssembly))
    throw new Error(
      'This browser lacks JavaScript Promise Integration, by which WebAssembly waits for a GPU. Choose another engine.',
    );
  const ort = await load('webgpu');
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'error';
  const runtime: Runtime = {
    ort,
    options: { executionProviders: ['webgpu'] },
    heapBytes: () => 0,
    inTurn: inTurns(),
  };
  const session = await ort.InferenceSession.create(emptyModel(), runtime.options);
  await session.release();
  return onlyOnnx(async () => runtime);
}
