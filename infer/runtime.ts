/**
 * ONNX Runtime as the rest of this folder uses it: one wasm instance on one thread. How it is loaded differs by platform
 * (ort.ts, ort-workerd.ts); what it computes is the same to the bit, unless it is the native build (ort-native.ts).
 */
import type * as Ort from 'onnxruntime-web/wasm';
import { DataType, Graph, modelBytes } from '../model/onnx/builder.ts';

export interface Runtime {
  readonly ort: typeof Ort;
  /** What computes, and how: the options of every session, beside those of its policy. */
  readonly options: Ort.InferenceSession.SessionOptions;
  /** The bytes of wasm memory, which only grows: weights, caches and what the allocator keeps. Code is not counted. */
  heapBytes(): number;
  /**
   * Runs `call` when the calls before it have ended. The runtime keeps the arguments of a call on the one stack of its wasm instance while it
   * awaits, and the weight file of a session that it opens in one place, so that two calls at once would write over each other's memory.
   */
  inTurn<T>(call: () => Promise<T>): Promise<T>;
}

/** `WebAssembly.instantiate` as the runtime calls it: with its module's bytes and the module's imports. */
export type Instantiate = (
  bytes: BufferSource,
  imports: WebAssembly.Imports,
) => Promise<{ module: WebAssembly.Module; instance: WebAssembly.Instance }>;

const memoryOf = (imports: WebAssembly.Imports): WebAssembly.Memory | undefined =>
  Object.values(imports)
    .flatMap((module) => Object.values(module))
    .find((value) => value instanceof WebAssembly.Memory);

/** A model of one identity operation, to create a first session with, since the runtime instantiates its wasm only then. */
export function emptyModel(): Uint8Array {
  const graph = new Graph('empty');
  const input = graph.input('in', DataType.FLOAT, [1]);
  graph.output(graph.op('Identity', [input]), DataType.FLOAT, [1]);
  return modelBytes(graph);
}

/**
 * Starts the runtime through the given `instantiate`, and keeps a reference to the memory that it imports. For that, the global
 * `WebAssembly.instantiate` is replaced while the runtime starts, because ORT offers no other way to do either.
 */
export async function startRuntime(ort: typeof Ort, instantiate: Instantiate): Promise<Runtime> {
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.proxy = false;
  ort.env.logLevel = 'error';
  const native = WebAssembly.instantiate;
  let memory: WebAssembly.Memory | undefined;
  const replacement: Instantiate = (bytes, imports) => {
    memory ??= memoryOf(imports);
    return instantiate(bytes, imports);
  };
  Object.assign(WebAssembly, { instantiate: replacement });
  try {
    const session = await ort.InferenceSession.create(emptyModel());
    await session.release();
  } finally {
    Object.assign(WebAssembly, { instantiate: native });
  }
  if (!memory) throw new Error('internal: ONNX Runtime was already running, or has no memory of its own');
  const heap = memory;
  return {
    ort,
    options: { executionProviders: ['wasm'] },
    heapBytes: () => heap.buffer.byteLength,
    inTurn: inTurns(),
  };
}

/** Runs calls one after the other. */
export function inTurns(): Runtime['inTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (call) => {
    const turn = last.then(call);
    last = turn.catch(() => undefined);
    return turn;
  };
}
