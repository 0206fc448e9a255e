/** Opens a stored version's files as a live Policy. */
import { RollmeshError } from '../core/errors.ts';
import type { Policy, PolicyRef } from '../core/policy/policy.ts';
import { headFile, setFiles, type VersionFiles, weightsFile } from '../core/schema/policy.ts';
import { type Adapter, checkAdapter, folded, foldInto, readAdapter } from '../model/adapter.ts';
import { checkCheckpoint } from '../model/checkpoint.ts';
import { type ModelConfig, parseConfig } from '../model/config.ts';
import { readHead } from '../model/head.ts';
import { readSafetensors } from '../model/safetensors.ts';
import { streamSafetensors } from '../model/safetensors-stream.ts';
import type { Engines } from './engines.ts';
import { loadKernelPolicy, shareKernelPolicy } from './kernels/kernel-policy.ts';
import { isToLayOut, layOutEnded } from './kernels/shared-weights.ts';
import { createPolicy } from './onnx-policy.ts';

/** The files that a set may have beside its weights; they may still be on their way. */
export interface BesideWeights {
  readonly adapter?: Uint8Array | Promise<Uint8Array> | undefined;
  readonly head?: Uint8Array | Promise<Uint8Array> | undefined;
}

/** Opens a policy of the kernels engine whose weights come piece by piece. What is beside them is waited for while the first piece comes. */
export async function openStreamed(
  engines: Engines,
  ref: PolicyRef,
  configFile: Uint8Array,
  weights: AsyncIterable<Uint8Array>,
  beside: BesideWeights = {},
): Promise<OpenPolicy> {
  const config = configOf(configFile);
  const coming = Promise.resolve(beside.adapter).then((bytes) => adapterOf(config, bytes));
  const head = Promise.resolve(beside.head).then((bytes) => bytes && readHead(config, bytes));
  // Where the weights fail first, nobody waits for these.
  for (const file of [coming, head]) file.catch(() => undefined);
  const shared = engines.shared?.(ref);
  if (shared && !isToLayOut(shared))
    return shareKernelPolicy(engines.kernels(), ref, config, engines.kernelBytes, shared, await head);
  try {
    const loading = loadKernelPolicy(engines.kernels(), ref, config, engines.kernelBytes, shared);
    for await (const piece of streamSafetensors(weights)) {
      const adapter = await coming;
      loading.write(adapter ? foldInto(adapter, piece) : piece);
    }
    return loading.finish(await head);
  } catch (error) {
    if (shared) layOutEnded(shared);
    throw error;
  }
}

/** Bytes of a slice of a file that is in memory. */
const SLICE = 1 << 20;

async function* slicesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE);
}

function adapterOf(config: ModelConfig, bytes: Uint8Array | undefined): Adapter | undefined {
  const adapter = bytes && readAdapter(bytes);
  if (adapter) checkAdapter(config, adapter);
  return adapter;
}

const configOf = (file: Uint8Array): ModelConfig => parseConfig(JSON.parse(new TextDecoder().decode(file)));

export interface OpenPolicy extends Policy {
  /** The bytes of wasm memory of what computes the policy, which only grows. */
  readonly heapBytes: number;
}

/** Opens a version, its adapter folded in, in the engine that its reference names. Throws `wrong-input`, before computing anything, if the files are not a model. */
export async function openVersion(
  engines: Engines,
  ref: PolicyRef,
  files: VersionFiles,
): Promise<OpenPolicy> {
  const configFile = files['config.json'];
  const { weights: weightsBytes, adapter: adapterBytes } = setFiles(files, ref.set);
  if (!configFile || !weightsBytes)
    throw new RollmeshError(
      'give-up',
      'policy.incomplete',
      `Version ${ref.version} of ${ref.name} lacks config.json or ${weightsFile(ref.set)}.`,
    );
  // In float32 all tensors together may take twice the file, beside it and the engine's own weights.
  const headBytes = files[headFile(ref.set)];
  if (ref.engine)
    return openStreamed(engines, ref, configFile, slicesOf(weightsBytes), {
      adapter: adapterBytes,
      head: headBytes,
    });
  const config = configOf(configFile);
  const head = headBytes && readHead(config, headBytes);
  const adapter = adapterOf(config, adapterBytes);
  const stored = readSafetensors(weightsBytes);
  const weights = adapter ? new Map(folded(stored, adapter)) : stored;
  checkCheckpoint(config, weights);
  const runtime = await engines.onnx();
  return createPolicy({ runtime, ref, config, weights, weightType: ref.weights ?? 'float32', head });
}
