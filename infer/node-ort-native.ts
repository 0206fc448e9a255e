/**
 * Starts ONNX Runtime's native build in Node: on a core by its own kernels, or on a GPU through WebGPU (Dawn). It runs the graphs of the wasm
 * build unchanged and comes to other last digits, so that only close nodes may use it. The package is large (291 MB, for all platforms), and
 * whoever wants it installs it beside this one.
 */
import { createRequire } from 'node:module';
import * as ort from 'onnxruntime-web/wasm';
import { wrongInput } from '../core/errors.ts';
import type { CloseEngine } from '../core/schema/work.ts';
import type { Engines } from './engines.ts';
import { emptyModel, inTurns, type Runtime } from './runtime.ts';

const PACKAGE = 'onnxruntime-node';
const INSTALL = `npm install --no-save --ignore-scripts ${PACKAGE}@${ort.env.versions.common}`;

/** The runtime's name of what computes. */
const PROVIDER: Readonly<Record<CloseEngine, string>> = { 'onnxruntime-node': 'cpu', webgpu: 'webgpu' };

/** @throws RollmeshError `node.engine` of kind `wrong-input` where the package is not installed, or there is no such device */
export async function loadNative(engine: CloseEngine): Promise<Runtime> {
  const runtime: Runtime = {
    ort: nativeModule(engine),
    // One thread, as that of every other engine of a node: what GPUs cannot compute of a graph is computed on it, too.
    options: { executionProviders: [PROVIDER[engine]], intraOpNumThreads: 1 },
    heapBytes: () => 0,
    inTurn: inTurns(),
  };
  try {
    const session = await runtime.ort.InferenceSession.create(emptyModel(), runtime.options);
    await session.release();
  } catch (error) {
    throw wrongInput('node.engine', `The engine ${engine} cannot be started: ${String(error)}`, {
      expected:
        engine === 'webgpu'
          ? 'a GPU with a driver for Vulkan, Metal or Direct3D 12'
          : 'a platform that it has a build for',
      next: 'Leave out --engine, or name another.',
      cause: error,
    });
  }
  return runtime;
}

function nativeModule(engine: CloseEngine): typeof ort {
  try {
    return createRequire(import.meta.url)(PACKAGE);
  } catch (error) {
    throw wrongInput(
      'node.engine',
      `The engine ${engine} needs the package ${PACKAGE}, which cannot be loaded.`,
      {
        next: `Install it beside rollmesh: \`${INSTALL}\`.`,
        cause: error,
      },
    );
  }
}

/** What computes where a close node's thread is asked for a policy, whatever engine its reference names. */
export const nativeEngines = (engine: CloseEngine): Engines => {
  let runtime: Promise<Runtime> | undefined;
  return {
    onnx: () => {
      runtime ??= loadNative(engine);
      return runtime;
    },
    kernels: () => {
      throw new Error('internal: a native engine has no kernels');
    },
    kernelBytes: 0,
  };
};
