/** Stores, checks and loads a version's files in R2. They are read only through their manifest, so a torn or swapped file is never used. */
import { createHash } from 'node:crypto';
import type { R2Bucket, ReadableStream } from '@cloudflare/workers-types';
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import { rebuilt } from '../../core/policy/delta.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import {
  deltasOf,
  type FileEntry,
  holdsWeights,
  isAdapter,
  isManifest,
  type Manifest,
  manifest,
  objectsOf,
  type StoredObject,
  seenFrom,
  type VersionFile,
  type VersionFiles,
  versionFile,
  wholeOf,
} from '../../core/schema/policy.ts';
import { canonicalJson } from '../../core/text/canonical-json.ts';
import { refuseCostlyPatterns } from '../../core/text/pattern-cost.ts';
import { checkAdapter, readAdapter } from '../../model/adapter.ts';
import { checkPieces } from '../../model/checkpoint.ts';
import { parseConfig } from '../../model/config.ts';
import { streamSafetensors } from '../../model/safetensors-stream.ts';
import { readJson } from './objects.ts';
import { getObject, hashOf, headObject, putVersionFile, versionKey } from './version-objects.ts';

export const MANIFEST = 'manifest.json';
export const readManifest = (bucket: R2Bucket, ref: PolicyRef): Promise<Manifest | null> =>
  readJson(bucket, versionKey(ref, MANIFEST), manifest);

/**
 * Checks that every object of a manifest is in the bucket with the manifest's size and hash. R2 computed the hash when it stored the bytes;
 * the hash of a file in shards, and of one that is made by deltas, is computed here. `parent`: the manifest of the parent, as it was committed; null
 * if there is none. Throws `version.files`, and for deltas that do not make their file what `rebuilt` throws.
 */
export async function verifyFiles(
  bucket: R2Bucket,
  manifest: Manifest,
  parent: Manifest | null,
): Promise<void> {
  const { files, version, policy: name } = manifest;
  refuseElsewhere(manifest, parent);
  for (const required of ['config.json', 'model.safetensors'])
    if (!files[required])
      throw refused(`The manifest has no ${required}.`, 'config.json and model.safetensors');
  for (const [file, entry] of Object.entries(files)) {
    const known = v.safeParse(versionFile, file);
    if (!known.success)
      throw refused(`The manifest names the file ${JSON.stringify(file)}.`, known.issues[0].message);
    const objects = objectsOf(file, entry, version);
    for (const { name: object, bytes, sha256, version } of objects) {
      const stored = await headObject(bucket, versionKey({ name, version }, object), sha256);
      if (stored?.size !== bytes || hashOf(stored) !== sha256)
        throw refused(
          stored
            ? `The stored ${object} is not the one of the manifest.`
            : `The file ${object} is not stored.`,
          `${bytes} bytes with sha256 ${sha256}`,
        );
    }
    if (objects.length > 1 && bringsFile(manifest, entry)) await verifyWhole(bucket, manifest, file, entry);
  }
}

/** Does the version itself store the file, or the last delta of it? */
const bringsFile = ({ version }: Manifest, entry: FileEntry): boolean =>
  objectsOf('', entry, version).at(-1)!.version === version;

/**
 * Refuses files that another version stores, unless they are the parent's: retention keeps what the current version names, so such a file
 * cannot be removed before this version, which names it too, is the current one. A file that is made by deltas may go on from the parent's by
 * deltas of its own.
 */
function refuseElsewhere(manifest: Manifest, before: Manifest | null): void {
  const { version, parent } = manifest;
  for (const [file, entry] of Object.entries(manifest.files)) {
    const elsewhere = objectsOf(file, entry, version).filter((object) => object.version !== version);
    if (!elsewhere.length && entry.version === undefined) continue;
    const theirs = before?.files[file];
    const same =
      theirs &&
      before &&
      canonicalJson(inherited(manifest, entry)) === canonicalJson(seenFrom(before, theirs));
    if (!same)
      throw refused(
        `The ${file} of version ${version} is said to be stored in version ${elsewhere[0]?.version ?? version}.`,
        `the parent's file where the parent, version ${parent}, has it`,
      );
  }
}

/** The file to which the deltas that a version itself published for `entry` are applied; `entry` where it published none. */
function inherited(manifest: Manifest, entry: FileEntry): FileEntry {
  const { replay } = entry;
  const deltas = replay?.deltas.filter(
    ({ version }) => version !== undefined && version !== manifest.version,
  );
  if (!replay || !deltas) return entry;
  const { anchor } = replay;
  return deltas.length
    ? { sha256: deltas.at(-1)!.result, bytes: anchor.bytes, replay: { anchor, deltas } }
    : anchor;
}

/** Checks that the shards or the deltas of a file make the file that the manifest names. */
async function verifyWhole(
  bucket: R2Bucket,
  manifest: Manifest,
  file: string,
  entry: FileEntry,
): Promise<void> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of fileBytes(bucket, manifest, file, entry)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  const found = hash.digest('hex');
  if (bytes !== entry.bytes || found !== entry.sha256)
    throw refused(
      `The ${entry.shards?.length} shards of ${file} make ${bytes} bytes with sha256 ${found}.`,
      `${entry.bytes} bytes with sha256 ${entry.sha256}`,
    );
}

/** Reads the model that a manifest commits, and refuses a torn file, tensors that do not fit the config and numbers that are not finite. */
export async function verifyModel(bucket: R2Bucket, manifest: Manifest): Promise<void> {
  const text = await loadFile(bucket, manifest, 'config.json', manifest.files['config.json']!);
  const config = parseConfig(parseJson(new TextDecoder().decode(text)));
  for (const [file, entry] of Object.entries(manifest.files)) {
    // What another version stores was checked when that was committed.
    if (!bringsFile(manifest, entry)) continue;
    if (holdsWeights(file))
      await checkPieces(config, streamSafetensors(fileBytes(bucket, manifest, file, entry)));
    if (!isAdapter(file)) continue;
    const adapter = readAdapter(await loadFile(bucket, manifest, file, entry));
    if (adapter) checkAdapter(config, adapter);
  }
}

/** The largest tokenizer.json; an isolate has 128 MB of memory. */
const CHECKED_BYTES = 40 * 1024 * 1024;

/**
 * Refuses a tokenizer whose regular expressions may take long, whoever stored it: the Workers run them and cannot be interrupted. It is
 * read as the Workers read it, by the hashes of the manifest. The tokenizer of the parent version was checked before.
 */
export async function verifyTokenizer(
  bucket: R2Bucket,
  manifest: Manifest,
  parent: Manifest | null,
): Promise<void> {
  const entry = manifest.files['tokenizer.json'];
  if (!entry || parent?.files['tokenizer.json']?.sha256 === entry.sha256) return;
  if (entry.bytes > CHECKED_BYTES)
    throw refused(`The tokenizer.json has ${entry.bytes} bytes.`, `at most ${CHECKED_BYTES}`);
  const bytes = await loadFile(bucket, manifest, 'tokenizer.json', entry);
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw refused('The tokenizer.json is no JSON.', 'a Hugging Face tokenizer.json');
  }
  refuseCostlyPatterns(json);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused('The config.json is no JSON.', 'a Hugging Face config.json');
  }
}

const refused = (what: string, expected: string) =>
  new RollmeshError('wrong-input', 'version.files', what, {
    expected,
    next: 'Upload the files, then the manifest.',
  });

/**
 * The named files of a committed version, each checked against the manifest, and the manifest against the hash in the database
 * (null if the database has none). Throws `missing-version`.
 */
export async function loadVersion(
  bucket: R2Bucket,
  ref: PolicyRef,
  files: readonly VersionFile[],
  manifestHash: ManifestHash,
): Promise<VersionFiles> {
  const committed = await committedManifest(bucket, ref, manifestHash);
  const entries = files.flatMap((file) => {
    const entry = committed.files[file];
    return entry ? [[file, entry] as const] : [];
  });
  const loaded = entries.map(
    async ([file, entry]) => [file, await loadFile(bucket, committed, file, entry)] as const,
  );
  return Object.fromEntries(await Promise.all(loaded));
}

/** One file of a version, whole and checked. Throws `missing-version`. */
export async function loadFile(
  bucket: R2Bucket,
  manifest: Manifest,
  file: string,
  entry: FileEntry,
): Promise<Uint8Array> {
  const objects = objectsOf(file, entry, manifest.version);
  if (objects.length === 1) return loadObject(bucket, manifest, objects[0]!);
  const bytes = new Uint8Array(entry.bytes);
  let at = 0;
  for await (const chunk of fileBytes(bucket, manifest, file, entry)) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

async function loadObject(bucket: R2Bucket, of: Manifest, stored: StoredObject): Promise<Uint8Array> {
  const object = await getObject(bucket, keyOf(of, stored), stored.sha256);
  if (!object) throw missingVersion(holderOf(of, stored), `${stored.name} is gone`);
  const bytes = new Uint8Array(await object.arrayBuffer());
  refuseOther(of, stored, bytes.length, createHash('sha256').update(bytes).digest('hex'));
  return bytes;
}

const holderOf = ({ policy: name }: Manifest, { version }: StoredObject): PolicyRef => ({ name, version });
const keyOf = (of: Manifest, stored: StoredObject) => versionKey(holderOf(of, stored), stored.name);

/** Throws `missing-version` unless the bytes of an object are those of the manifest. */
function refuseOther(of: Manifest, stored: StoredObject, length: number, found: string) {
  const { name, bytes, sha256 } = stored;
  if (length === bytes && found === sha256) return;
  throw missingVersion(holderOf(of, stored), `${name} has sha256 ${found}, its manifest says ${sha256}`);
}

/** The hash of a version's manifest in the database, null if the database has none; it may still be on its way. */
type ManifestHash = string | null | Promise<string | null>;

/** The manifest of a committed version, checked against the hash in the database. Both are asked for at once. */
export async function committedManifest(
  bucket: R2Bucket,
  ref: PolicyRef,
  manifestHash: ManifestHash,
): Promise<Manifest> {
  const [committed, hash] = await Promise.all([readManifest(bucket, ref), manifestHash]);
  if (!committed) throw missingVersion(ref, 'it has no manifest');
  if (hash !== null && !(await isManifest(committed, hash)))
    throw missingVersion(ref, 'its manifest is not the one that was committed');
  return committed;
}

/**
 * Streams the bytes of one file, piece by piece. The last step of the generator, and that of each object of the file, throws `missing-version` if
 * the bytes were not those of the manifest, so nothing made from them may be used before it is done. If deltas make the file, all of them are held
 * in memory while it is read.
 */
export async function* fileBytes(
  bucket: R2Bucket,
  of: Manifest,
  file: string,
  entry: FileEntry,
): AsyncGenerator<Uint8Array> {
  const whole = objectBytes(bucket, of, wholeOf(file, entry, of.version));
  if (!entry.replay) return yield* whole;
  const deltas = deltasOf(file, entry, of.version).map((stored) => loadObject(bucket, of, stored));
  yield* rebuilt(file, entry.replay, whole, await Promise.all(deltas));
}

/** An object of up to so many bytes is read, and checked, in one piece: a stream hands a Worker 4 KB at a time. */
const WHOLE_BYTES = 1 << 20;

async function* objectBytes(
  bucket: R2Bucket,
  of: Manifest,
  objects: readonly StoredObject[],
): AsyncGenerator<Uint8Array> {
  for (const stored of objects) {
    if (stored.bytes <= WHOLE_BYTES) {
      yield await loadObject(bucket, of, stored);
      continue;
    }
    const object = await getObject(bucket, keyOf(of, stored), stored.sha256);
    if (!object) throw missingVersion(holderOf(of, stored), `${stored.name} is gone`);
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of object.body as ReadableStream<Uint8Array>) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
    refuseOther(of, stored, bytes, hash.digest('hex'));
  }
}

export const missingVersion = ({ name, version }: PolicyRef, why: string) =>
  new RollmeshError(
    'missing-version',
    'version.missing',
    `Version ${version} of ${name} cannot be used: ${why}.`,
    { next: 'Import it, or roll the policy back to a version that is whole.' },
  );

/** Throws `missing-version` unless the version is committed, was not withdrawn, and still has its files. */
export function expectUsable(
  ref: PolicyRef,
  row: { readonly withdrawn: string | null; readonly prunedAt: number | null } | undefined,
): void {
  if (!row) throw missingVersion(ref, 'it is not committed');
  if (row.withdrawn !== null) throw missingVersion(ref, row.withdrawn);
  if (row.prunedAt !== null) throw missingVersion(ref, 'retention removed its files');
}

/**
 * Copies the files of another policy's version, which become version 0 of a new policy. Returns the manifest of that version, which says
 * where they came from and is not stored yet.
 */
export async function forkVersion(
  bucket: R2Bucket,
  from: PolicyRef,
  manifestHash: string | null,
  to: string,
): Promise<Manifest> {
  const source = await committedManifest(bucket, from, manifestHash);
  const forked: Manifest = {
    ...source,
    policy: to,
    version: 0,
    parent: null,
    groups: [],
    round: null,
    files: Object.fromEntries(Object.entries(source.files).map(([file, entry]) => [file, ownOf(entry)])),
    settings: { ...source.settings, forkedFrom: `${from.name}@${from.version}` },
  };
  for (const [file, entry] of Object.entries(source.files))
    for (const stored of objectsOf(file, entry, source.version)) {
      const { name, sha256 } = stored;
      const object = await getObject(bucket, keyOf(source, stored), sha256);
      if (!object) throw missingVersion(from, `${name} is gone`);
      await putVersionFile(bucket, { name: to, version: 0 }, name, object.body, { sha256, settled: false });
    }
  return forked;
}

/** What a manifest says of a file that its own version stores, with its anchor and its deltas. */
function ownOf({ version: _elsewhere, replay, ...whole }: FileEntry): FileEntry {
  if (!replay) return whole;
  const own = <T extends { readonly version?: number }>({ version: _, ...part }: T) => part;
  return { ...whole, replay: { anchor: own(replay.anchor), deltas: replay.deltas.map(own) } };
}
