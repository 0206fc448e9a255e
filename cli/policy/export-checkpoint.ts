/**
 * `policy export`: writes a stored version as a folder that other tools load without changes: the Hugging Face layout, the graph that
 * the rollouts run, and the manifest that says what the version contains.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { TEXT_FILES } from '../../core/renderer/policy-text.ts';
import {
  adapterFile,
  broughtBy,
  type FileEntry,
  type FileStream,
  type Manifest,
  type VersionFiles,
} from '../../core/schema/policy.ts';
import { type Adapter, foldInto, readAdapter } from '../../model/adapter.ts';
import { tensorShapes } from '../../model/checkpoint.ts';
import {
  type StoredTensors,
  storedFile,
  storedNumbers,
  tensorsOf,
  valuesOf,
} from '../../model/checkpoint-files.ts';
import type { ModelConfig } from '../../model/config.ts';
import { checkGguf } from '../../model/gguf/model.ts';
import { policyGraph } from '../../model/onnx/policy-graph.ts';
import { WEIGHTS_FILE } from '../../model/onnx/weights.ts';
import { peftFiles } from '../../model/peft.ts';
import { encode as encodeNumbers, type StorageType, writeHeader } from '../../model/safetensors.ts';
import { streamSafetensors } from '../../model/safetensors-stream.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { AS_IMPORTED } from './checkpoint-folder.ts';
import { errnoOf } from './files.ts';
import { ggufFile } from './gguf-file.ts';
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
  /** Of an adapter: the version whose whole checkpoint it is loaded onto. */
  readonly base?: PolicyRef;
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

/**
 * The weights as they are stored, with an adapter folded in where the version has one; they are fetched to a file, since they may not fit
 * into memory.
 */
async function fetchWeights(
  gateway: GatewayClient,
  manifest: Manifest,
  path: { readonly fetched: string; readonly folded: string },
  adapter: Adapter | undefined,
): Promise<StoredTensors> {
  const stored = gateway.streamFile(manifest, WEIGHTS, manifest.files[WEIGHTS]!);
  await writeFile(path.fetched, stored, { flag: 'wx' });
  const tensors = await tensorsOf(path.fetched);
  if (!adapter) return tensors;
  await writeFile(path.folded, foldedFile(path.fetched, tensors, adapter), { flag: 'wx' });
  await rm(path.fetched);
  return tensorsOf(path.folded);
}

/** The file of weights with the adapter folded in, in float32. */
export async function* foldedFile(
  path: string,
  tensors: StoredTensors,
  adapter: Adapter,
): AsyncGenerator<Uint8Array> {
  const ordered = [...tensors.values()].sort((a, b) => a.from - b.from);
  yield writeHeader(ordered.map(({ name, shape }) => ({ name, shape, dtype: 'F32' })));
  for await (const piece of streamSafetensors(createReadStream(path)))
    yield encodeNumbers(foldInto(adapter, piece).data, 'F32');
}

/** The adapter of a version's main set; undefined where it has none. */
const adapterOf = (files: VersionFiles): Adapter | undefined => {
  const bytes = files[adapterFile()];
  return bytes && readAdapter(bytes);
};

type Written = Pick<Exported, 'dtype' | 'files' | 'base'>;

interface StoredConfig {
  readonly eos_token_id?: unknown;
  readonly [AS_IMPORTED]?: { readonly eos_token_id?: unknown; readonly generation_config: object };
}

/** config.json and, where there was one, generation_config.json, as they were imported. */
function asItCame({ [AS_IMPORTED]: came, ...config }: StoredConfig): { config: object; generation?: object } {
  if (!came) return { config };
  const { eos_token_id: _, ...others } = config;
  const { generation_config: generation, ...ends } = came;
  return { config: { ...others, ...ends }, generation };
}

interface Whole {
  readonly ref: PolicyRef;
  readonly config: ModelConfig;
  readonly files: VersionFiles;
  /** With an adapter folded in. */
  readonly tensors: StoredTensors;
  readonly dtype: StorageType;
}

/** A form in which the whole version is written. */
interface Form {
  /** Throws where the model has no such form, before its weights are fetched. */
  readonly check: (config: ModelConfig) => void;
  readonly write: (folder: Folder, version: Whole) => Promise<void>;
}

const HUGGING_FACE: Form = {
  check: () => {},
  async write(folder, { config, files, tensors, dtype }) {
    const { config: hf, generation } = asItCame(JSON.parse(new TextDecoder().decode(files['config.json'])));
    await folder.write('config.json', encode(withDtype(hf, dtype)));
    if (generation) await folder.write('generation_config.json', encode(generation));
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
  },
};

const GGUF: Form = {
  check: checkGguf,
  async write(folder, { ref, config, files, tensors, dtype }) {
    const name = `${ref.name}-${ref.version}`;
    await folder.write(`${name}.gguf`, ggufFile(name, config, files, tensors, dtype));
  },
};

/** Writes the folder; the manifest with the hashes of the files comes last. */
async function writeWhole(
  gateway: GatewayClient,
  ref: PolicyRef,
  path: string,
  form: Form,
  dtype: StorageType = 'F32',
): Promise<Written> {
  const { manifest, files } = await fetchVersion(gateway, ref, [...TEXT_FILES, adapterFile()]);
  const config = configOf(files);
  form.check(config);
  const temporary = {
    fetched: join(path, '.fetched.safetensors'),
    folded: join(path, '.folded.safetensors'),
  };
  const folder = new Folder(path);
  try {
    const tensors = await fetchWeights(gateway, manifest, temporary, adapterOf(files));
    if (dtype === 'F16') await checkHalf(config, tensors);
    await form.write(folder, { ref, config, files, tensors, dtype });
    await folder.write('manifest.json', encode({ ...manifest, files: folder.entries }));
    return { dtype, files: Object.keys(folder.entries) };
  } catch (error) {
    await folder.clear();
    throw error;
  } finally {
    for (const file of Object.values(temporary)) await rm(file, { force: true });
  }
}

/**
 * Writes the version's adapter in the layout of PEFT, which loads it onto the base model.
 * @throws RollmeshError `export.no-adapter` for a version without one
 */
async function writePeft(
  gateway: GatewayClient,
  ref: PolicyRef,
  path: string,
  wanted: StorageType | undefined,
  basePath: string | undefined,
): Promise<Written> {
  const { manifest, files } = await fetchVersion(gateway, ref, [adapterFile()]);
  const stored = files[adapterFile()];
  if (!stored)
    throw wrongInput('export.no-adapter', `Version ${ref.version} of ${ref.name} has no adapter.`, {
      expected: 'a version that a run with --adapter trained',
      next: 'Leave --adapter out: the whole checkpoint is exported.',
    });
  const base = broughtBy(manifest, manifest.files[WEIGHTS]!);
  const { dtype, files: written } = peftFiles(stored, basePath ?? `${base.name}@${base.version}`, wanted);
  const folder = new Folder(path);
  try {
    for (const [name, bytes] of Object.entries(written)) await folder.write(name, bytes);
    await folder.write('manifest.json', encode({ ...manifest, files: folder.entries }));
    return { dtype, files: Object.keys(folder.entries), base };
  } catch (error) {
    await folder.clear();
    throw error;
  }
}

/**
 * With `adapter` only the adapter, as PEFT has it; `base` is where its loader finds the base model. With `gguf` one file for llama.cpp. Without a type weights are float32, and an adapter is what it is stored as.
 * @throws RollmeshError `export.*`, `policy.missing` or `version.missing`
 */
export async function exportCheckpoint(
  gateway: GatewayClient,
  ref: PolicyRef,
  folder: string,
  dtype: StorageType | undefined,
  {
    adapter = false,
    base,
    gguf = false,
  }: { readonly adapter?: boolean; readonly base?: string | undefined; readonly gguf?: boolean } = {},
): Promise<Exported> {
  await checkEmpty(folder);
  let made: string | undefined;
  try {
    made = await mkdir(folder, { recursive: true });
    const written = adapter
      ? await writePeft(gateway, ref, folder, dtype, base)
      : await writeWhole(gateway, ref, folder, gguf ? GGUF : HUGGING_FACE, dtype);
    return { policy: ref.name, version: ref.version, folder, ...written };
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
