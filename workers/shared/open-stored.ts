/** Opens a version's stored files as a live policy: verifies the bytes, checks the tensors, and asks at once for what does not depend on each other. */
import type { PolicyRef } from '../../core/policy/policy.ts';
import {
  adapterFile,
  deltasOf,
  type FileEntry,
  headFile,
  type Manifest,
  setFiles,
  type VersionFile,
  weightsFile,
} from '../../core/schema/policy.ts';
import type { Engines } from '../../infer/engines.ts';
import { type OpenPolicy, openStreamed, openVersion } from '../../infer/open-version.ts';
import { parseConfig } from '../../model/config.ts';
import { fileBytes, loadFile, missingVersion } from '../store/versions.ts';
import { manifestOf, type VersionStore } from './committed.ts';
import { expectRoom } from './isolate-size.ts';

/** A file that a manifest names. */
interface NamedFile {
  readonly of: Manifest;
  readonly file: VersionFile;
  readonly entry: FileEntry;
}

const filesIn = (of: Manifest): Readonly<Partial<Record<string, NamedFile>>> =>
  Object.fromEntries(
    Object.entries(of.files).map(([file, entry]) => [file, { of, file: file as VersionFile, entry }]),
  );

/** By sha256. */
const configs = new Map<string, Uint8Array>();
const KEPT_CONFIGS = 16;

/** The version's config.json, kept in the isolate by its hash, as all versions of a policy have the same. */
async function configOf({ bucket }: VersionStore, of: Manifest): Promise<Uint8Array> {
  const entry = of.files['config.json'];
  if (!entry) throw missingVersion({ name: of.policy, version: of.version }, 'it lacks config.json');
  const known = configs.get(entry.sha256);
  if (known) return known;
  const config = await loadFile(bucket, of, 'config.json', entry);
  if (configs.size >= KEPT_CONFIGS) configs.clear();
  configs.set(entry.sha256, config);
  return config;
}

/**
 * The weights and the adapter of the set that the reference names. A set that no round has trained yet is version 0's main set, and adapters without
 * weights are trained on it.
 */
async function setOf(
  store: VersionStore,
  ref: PolicyRef,
  of: Manifest,
): Promise<{ readonly weights: NamedFile; readonly adapter: NamedFile | undefined }> {
  const start = of.files[weightsFile(ref.set)] ? of : await manifestOf(store, { ...ref, version: 0 });
  const { weights, adapter } = setFiles(filesIn(of), ref.set, filesIn(start));
  if (!weights) throw missingVersion(ref, 'it lacks weights');
  return { weights, adapter };
}

/**
 * Opens a version with two steps of waiting, three where the policy's config.json is new here: its manifest and its row in the database are asked for at
 * once, then its files. The kernels lay weights out while they arrive, so that these are in memory only once. Throws `policy.isolate` for a model that is
 * too large to be opened here.
 */
export async function openStored(engines: Engines, store: VersionStore, ref: PolicyRef): Promise<OpenPolicy> {
  const { bucket } = store;
  const manifest = await manifestOf(store, ref);
  const config = await configOf(store, manifest);
  const { weights, adapter } = await setOf(store, ref, manifest);
  const deltas = deltasOf(weights.file, weights.entry, weights.of.version);
  const deltaBytes = deltas.reduce((sum, delta) => sum + delta.bytes, 0);
  expectRoom(parseConfig(JSON.parse(new TextDecoder().decode(config))), ref, deltaBytes);
  const head = filesIn(manifest)[headFile(ref.set)];
  const load = ({ of, file, entry }: NamedFile) => loadFile(bucket, of, file, entry);
  if (ref.engine) {
    const pieces = fileBytes(bucket, weights.of, weights.file, weights.entry);
    return openStreamed(engines, ref, config, pieces, {
      adapter: adapter && load(adapter),
      head: head && load(head),
    });
  }
  const [weightsBytes, adapterBytes, headBytes] = await Promise.all([
    load(weights),
    adapter && load(adapter),
    head && load(head),
  ]);
  return openVersion(engines, ref, {
    'config.json': config,
    [weightsFile(ref.set)]: weightsBytes,
    ...(adapterBytes ? { [adapterFile(ref.set)]: adapterBytes } : {}),
    ...(headBytes ? { [headFile(ref.set)]: headBytes } : {}),
  });
}
