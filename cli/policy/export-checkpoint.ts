/**
 * `policy export`: writes a stored version as a folder that other tools load without changes: the Hugging Face layout, the graph that
 * the rollouts run, and the manifest that says what the version contains.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GatewayClient } from '../../api/gateway-client.ts';
import { wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy.ts';
import { TEXT_FILES } from '../../core/renderer/policy-text.ts';
import type { FileEntry, FileStream, Manifest } from '../../core/schema/policy.ts';
import { tensorShapes } from '../../model/checkpoint.ts';
import {
  type StoredTensors,
  storedFile,
  storedNumbers,
  tensorsOf,
  valuesOf,
} from '../../model/checkpoint-files.ts';
import type { ModelConfig } from '../../model/config.ts';
import { policyGraph } from '../../model/onnx/policy-graph.ts';
import { WEIGHTS_FILE } from '../../model/onnx/weights.ts';
import type { StorageType } from '../../model/safetensors.ts';
import { errnoOf } from './files.ts';
import { placeWeights } from './graph-place.ts';
import { withDtype } from './hf-dtype.ts';
import { configOf } from './live-policy.ts';
import { fetchVersion } from './stored-version.ts';

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

async function checkHalf(config: ModelConfig, tensors: StoredTensors): Promise<void> {
  for (const name of tensorShapes(config).keys())
    for await (const data of valuesOf(tensors.get(name)!)) {
      const bad = data.find((x) => Math.abs(x) > LARGEST_HALF);
      if (bad !== undefined)
        throw wrongInput('export.range', `Tensor ${name} holds ${bad}, which F16 cannot.`, {
          expected: `numbers from -${LARGEST_HALF} to ${LARGEST_HALF}`,
          next: 'Choose --dtype BF16 or F32.',
        });
    }
}

/** The files of an export, each written once, and what the manifest says of them. */
class Folder {
  readonly #path: string;
  readonly #begun: string[] = [];
  readonly entries: Record<string, FileEntry> = {};

  constructor(path: string) {
    this.#path = path;
  }

  /** Writes a file that is in memory, or one that comes as a stream. */
  async write(name: string, content: Uint8Array | FileStream): Promise<void> {
    const hash = createHash('sha256');
    let bytes = 0;
    async function* hashed() {
      for await (const chunk of content instanceof Uint8Array ? [content] : content.read()) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    }
    this.#begun.push(name);
    await writeFile(join(this.#path, name), hashed(), { flag: 'wx' });
    this.entries[name] = { sha256: hash.digest('hex'), bytes };
  }

  /** Removes what was written, so that an export that failed can be tried again. */
  async clear(): Promise<void> {
    for (const name of this.#begun) await rm(join(this.#path, name), { force: true });
  }
}

/** The weights as they are stored; they are fetched to a file, since they may not fit into memory. */
async function fetchWeights(
  gateway: GatewayClient,
  ref: PolicyRef,
  { files }: Manifest,
  path: string,
): Promise<StoredTensors> {
  await writeFile(path, gateway.streamFile(ref, WEIGHTS, files[WEIGHTS]!), { flag: 'wx' });
  return tensorsOf(path);
}

/** Writes the folder; the manifest with the hashes of the files comes last. */
async function writeExport(
  gateway: GatewayClient,
  ref: PolicyRef,
  path: string,
  dtype: StorageType,
): Promise<readonly string[]> {
  const { manifest, files } = await fetchVersion(gateway, ref, TEXT_FILES);
  const config = configOf(files);
  const fetched = join(path, '.fetched.safetensors');
  const folder = new Folder(path);
  try {
    const tensors = await fetchWeights(gateway, ref, manifest, fetched);
    if (dtype === 'F16') await checkHalf(config, tensors);
    const hf = JSON.parse(new TextDecoder().decode(files['config.json'])) as object;
    await folder.write('config.json', encode(withDtype(hf, dtype)));
    for (const name of ['tokenizer.json', 'tokenizer_config.json'] as const)
      if (files[name]) await folder.write(name, files[name]);
    const weights = storedFile(config, tensors, dtype);
    await folder.write(WEIGHTS, weights);
    // The graph computes in float32: it reads the exported weights where they are that, else it has a file of its own.
    const graph = policyGraph(config);
    if (dtype === 'F32') await folder.write('generate.onnx', placeWeights(graph, WEIGHTS, weights.header));
    else {
      await folder.write('generate.onnx', graph);
      await folder.write(WEIGHTS_FILE, storedNumbers(config, tensors, 'F32'));
    }
    await folder.write('manifest.json', encode({ ...manifest, files: folder.entries }));
    return Object.keys(folder.entries);
  } catch (error) {
    await folder.clear();
    throw error;
  } finally {
    await rm(fetched, { force: true });
  }
}

/** @throws RollmeshError `export.*`, `policy.missing` or `version.missing` */
export async function exportCheckpoint(
  gateway: GatewayClient,
  ref: PolicyRef,
  folder: string,
  dtype: StorageType,
): Promise<Exported> {
  await checkEmpty(folder);
  let made: string | undefined;
  try {
    made = await mkdir(folder, { recursive: true });
    const files = await writeExport(gateway, ref, folder, dtype);
    return { policy: ref.name, version: ref.version, folder, dtype, files };
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    const code = errnoOf(error);
    if (code === undefined) throw error;
    throw wrongInput('export.folder', `The folder ${folder} cannot be written: ${code}.`, {
      expected: 'a folder that may be written, with room for the weights',
      cause: error,
    });
  }
}
