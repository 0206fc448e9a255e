/**
 * `policy export`: writes a stored version as a folder that other tools load without changes: the Hugging Face layout, the graph that
 * the rollouts run, and the manifest that says what the version contains.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GatewayClient } from '../../api/gateway-client.ts';
import { wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy.ts';
import { sha256Hex } from '../../core/random.ts';
import { tensorShapes } from '../../model/checkpoint.ts';
import type { ModelConfig } from '../../model/config.ts';
import { policyGraph } from '../../model/onnx/policy-graph.ts';
import { packWeights, WEIGHTS_FILE } from '../../model/onnx/weights.ts';
import {
  readSafetensors,
  type StorageType,
  type Tensors,
  writeSafetensors,
} from '../../model/safetensors.ts';
import { errnoOf } from './files.ts';
import { placeWeights } from './graph-place.ts';
import { withDtype } from './hf-dtype.ts';
import { configOf } from './live-policy.ts';
import { fetchVersion, type StoredVersion } from './stored-version.ts';

const WEIGHTS = 'model.safetensors';
/** The largest finite float16. */
const LARGEST_HALF = 65504;

const encode = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);

export interface Exported {
  readonly policy: string;
  readonly version: number;
  readonly folder: string;
  readonly dtype: StorageType;
  readonly files: readonly string[];
}

/** Throws `export.folder` where the path is not a folder or the folder is not empty. */
export async function checkEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    if (errnoOf(error) === 'ENOTDIR')
      throw wrongInput('export.folder', `${folder} is a file.`, { expected: 'an empty or missing folder' });
    throw error;
  });
  if (entries.length)
    throw wrongInput('export.folder', `The folder ${folder} holds ${entries.length} entries.`, {
      expected: 'an empty or missing folder: nothing is overwritten',
      next: 'Choose another folder.',
    });
}

function checkHalf(tensors: Tensors): void {
  for (const [name, { data }] of tensors) {
    const at = data.findIndex((x) => Math.abs(x) > LARGEST_HALF);
    if (at >= 0)
      throw wrongInput('export.range', `Tensor ${name} holds ${data[at]}, which F16 cannot.`, {
        expected: `numbers from -${LARGEST_HALF} to ${LARGEST_HALF}`,
        next: 'Choose --dtype BF16 or F32.',
      });
  }
}

/** The graph's files: it refers to the exported weights where it can read them, else it gets a weight file of its own. */
function graphFiles(config: ModelConfig, tensors: Tensors, weights: Uint8Array): Record<string, Uint8Array> {
  const graph = policyGraph(config);
  const packed = packWeights(config, tensors);
  const offset = weights.length - packed.length;
  if (offset > 0 && Buffer.compare(weights.subarray(offset), packed) === 0)
    return { 'generate.onnx': placeWeights(graph, WEIGHTS, offset) };
  return { 'generate.onnx': graph, [WEIGHTS_FILE]: packed };
}

/** All files of the export by name; the manifest with their hashes comes last. */
export function exportFiles({ manifest, files }: StoredVersion, dtype: StorageType): Map<string, Uint8Array> {
  const config = configOf(files);
  const stored = readSafetensors(files[WEIGHTS]!);
  const tensors: Tensors = new Map(
    [...tensorShapes(config).keys()].map((name) => [name, stored.get(name)!] as const),
  );
  if (dtype === 'F16') checkHalf(tensors);
  const weights = writeSafetensors(tensors, dtype);
  const hf = JSON.parse(new TextDecoder().decode(files['config.json'])) as object;
  const out = new Map<string, Uint8Array>([['config.json', encode(withDtype(hf, dtype))]]);
  for (const name of ['tokenizer.json', 'tokenizer_config.json'] as const)
    if (files[name]) out.set(name, files[name]);
  out.set(WEIGHTS, weights);
  for (const [name, bytes] of Object.entries(graphFiles(config, tensors, weights))) out.set(name, bytes);
  const entries = [...out].map(
    ([name, bytes]) => [name, { sha256: sha256Hex(bytes), bytes: bytes.length }] as const,
  );
  return out.set('manifest.json', encode({ ...manifest, files: Object.fromEntries(entries) }));
}

/** @throws RollmeshError `export.*`, `policy.missing` or `version.missing`, before anything is written */
export async function exportCheckpoint(
  gateway: GatewayClient,
  ref: PolicyRef,
  folder: string,
  dtype: StorageType,
): Promise<Exported> {
  const files = exportFiles(await fetchVersion(gateway, ref), dtype);
  await checkEmpty(folder);
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, bytes] of files) await writeFile(join(folder, name), bytes, { flag: 'wx' });
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    throw wrongInput('export.folder', `The folder ${folder} cannot be written: ${code}.`, {
      expected: 'a folder that may be written, with room for the weights',
      cause: error,
    });
  }
  return { policy: ref.name, version: ref.version, folder, dtype, files: [...files.keys()] };
}
