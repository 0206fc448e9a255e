/**
 * Finds the files of a start policy by its name. It is looked for in the user's own folder `./models`, in this installation, in the package
 * `rollmesh-starts` and in the folder or at the URL that `ROLLMESH_STARTS` names, in this order. All but the user's own have to be the ones that
 * `start-hashes.ts` knows.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../core/errors.ts';
import { sha256Hex } from '../core/random.ts';
import type { VersionFiles } from '../core/schema/policy.ts';
import { readPolicyFolder } from '../model/policy-folder.ts';
import { CACHES, installed } from './mesh/installation.ts';
import { START_HASHES } from './start-hashes.ts';

/** The folder of start policies, in the working directory and in the installation, and the package of those that rollmesh does not bring. */
const MODELS = 'models';
const PACKAGE = 'rollmesh-starts';
const MANIFEST = 'manifest.json';
/** A manifest has about 1 kB. */
const MANIFEST_BYTES = 65_536;
const FETCH_MS = 60_000;

const startManifest = v.object({
  files: v.record(
    v.picklist(['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors']),
    v.object({ sha256: v.string(), bytes: v.pipe(v.number(), v.integer()) }),
  ),
});

type ListedFiles = v.InferOutput<typeof startManifest>['files'];

/** The files of a manifest as `pretrain` writes it; undefined where it is another kind of file. */
function listedIn(manifest: Uint8Array): ListedFiles | undefined {
  try {
    return v.parse(startManifest, JSON.parse(new TextDecoder().decode(manifest))).files;
  } catch {
    return undefined;
  }
}

/** Folders that hold start policies, each in a folder of its name. */
export interface StartPlaces {
  readonly own: string;
  readonly shipped: string;
  /** Undefined where the package is not installed. */
  readonly packaged: string | undefined;
  /** A folder, or a URL that begins with `http`. */
  readonly named: string | undefined;
  /** Where files from a URL are kept. */
  readonly cache: string;
  /** The hashes of the manifests by the names of starts. */
  readonly hashes: Readonly<Record<string, string>>;
}

/** The folder of the package, seen from the working directory or from this installation. */
function packageFolder(): string | undefined {
  for (const from of [resolve(PACKAGE), import.meta.url])
    try {
      return dirname(createRequire(from).resolve(`${PACKAGE}/package.json`));
    } catch {
      // It is not installed there.
    }
  return undefined;
}

const places = (): StartPlaces => ({
  own: resolve(MODELS),
  shipped: installed(MODELS),
  packaged: packageFolder(),
  named: process.env['ROLLMESH_STARTS'] || undefined,
  cache: join(CACHES, PACKAGE),
  hashes: START_HASHES,
});

export interface FoundStart {
  readonly folder: string;
  /** Is it a policy of the user's own, whose bytes nobody else knows? */
  readonly own: boolean;
  /** The address of the folder that its files come from. */
  readonly url?: string;
}

const isUrl = (place: string): boolean => /^https?:/.test(place);

/** Where the start policy of that name is; undefined where it is nowhere. A URL is not asked. */
export function findStart(
  name: string,
  { own, shipped, packaged, named, cache, hashes }: StartPlaces = places(),
): FoundStart | undefined {
  const known = Object.hasOwn(hashes, name);
  if (existsSync(join(own, name)) && !(known && own === shipped))
    return { folder: join(own, name), own: true };
  if (!known) return undefined;
  for (const place of [shipped, packaged, named && !isUrl(named) ? resolve(named) : undefined])
    if (place !== undefined && existsSync(join(place, name)))
      return { folder: join(place, name), own: false };
  if (named === undefined || !isUrl(named)) return undefined;
  const folder = join(cache, `${name}-${hashes[name]!.slice(0, 16)}`);
  return { folder, own: false, url: `${named.replace(/\/$/, '')}/${name}` };
}

const damaged = (name: string, where: string, what: string, next: string) =>
  wrongInput('start.damaged', `The start policy ${name} in ${where} ${what}.`, {
    expected: 'the files as they were made',
    next,
  });

/** Throws `start.damaged` where a file is missing, or is not the one that the manifest lists; says nothing of other files. */
function expectFiles(
  name: string,
  where: string,
  listed: ListedFiles,
  files: Readonly<Record<string, Uint8Array | undefined>>,
  next: string,
): void {
  for (const [file, { sha256, bytes }] of Object.entries(listed)) {
    const found = files[file];
    if (!found) throw damaged(name, where, `lacks ${file}`, next);
    if (found.length !== bytes)
      throw damaged(name, where, `has ${found.length} bytes of ${file}, not ${bytes}`, next);
    const hash = sha256Hex(found);
    if (hash !== sha256)
      throw damaged(name, where, `has another ${file}: its sha256 is ${hash}, not ${sha256}`, next);
  }
}

/** Throws `start.damaged` where the manifest is not the one that the table knows. */
function expectManifest(
  name: string,
  where: string,
  manifest: Uint8Array,
  wanted: string,
  next: string,
): void {
  const hash = sha256Hex(manifest);
  if (hash !== wanted)
    throw damaged(name, where, `has another ${MANIFEST}: its sha256 is ${hash}, not ${wanted}`, next);
}

/** Fetches at most `most` bytes. Throws `start.fetch`. */
async function fetchBytes(url: string, most: number): Promise<Uint8Array> {
  const failed = (what: string, cause?: unknown) =>
    new RollmeshError('retry', 'start.fetch', `${url} ${what}.`, {
      expected: 'the file of a start policy, at the URL that ROLLMESH_STARTS names',
      next: 'Check the URL, or leave ROLLMESH_STARTS out and install the package rollmesh-starts.',
      cause,
    });
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) });
    if (!response.ok) throw failed(`answers ${response.status}`);
    for await (const part of response.body ?? []) {
      parts.push(part);
      length += part.length;
      if (length > most) throw failed(`sends more than ${most} bytes`);
    }
  } catch (error) {
    throw error instanceof RollmeshError ? error : failed('cannot be fetched', error);
  }
  return Buffer.concat(parts);
}

/** Fetches a start into its folder of the cache, where it appears once every file is the right one. */
async function fetchStart(name: string, wanted: string, folder: string, url: string): Promise<void> {
  const next = 'Nothing was written. Name another folder or URL in ROLLMESH_STARTS.';
  const manifest = await fetchBytes(`${url}/${MANIFEST}`, MANIFEST_BYTES);
  expectManifest(name, url, manifest, wanted, next);
  const listed = listedIn(manifest) ?? {};
  const files: Record<string, Uint8Array> = {};
  for (const [file, { bytes }] of Object.entries(listed))
    files[file] = await fetchBytes(`${url}/${file}`, bytes);
  expectFiles(name, url, listed, files, next);
  mkdirSync(dirname(folder), { recursive: true });
  const written = mkdtempSync(`${folder}-`);
  try {
    for (const [file, bytes] of Object.entries({ ...files, [MANIFEST]: manifest }))
      writeFileSync(join(written, file), bytes);
    renameSync(written, folder);
  } catch (error) {
    // Another process was faster, with the same files.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(written, { recursive: true, force: true });
  }
}

/**
 * Reads the files of a start policy.
 *
 * @throws RollmeshError `start.unknown` where there is none of that name, `start.damaged` where a file is missing or another one than it was, and
 * `start.fetch` where a URL does not answer with it.
 */
export async function readStart(name: string, from: StartPlaces = places()): Promise<VersionFiles> {
  const found = findStart(name, from);
  if (!found) {
    const { unknownStart } = await import('./unknown-start.ts');
    throw unknownStart(name, {
      own: from.own,
      isPackaged: Object.hasOwn(from.hashes, name),
      has: (other) => findStart(other, from) !== undefined,
    });
  }
  const { folder, own, url } = found;
  const wanted = from.hashes[name]!;
  if (url !== undefined && !existsSync(folder)) await fetchStart(name, wanted, folder, url);
  const next = own
    ? `Copy or make it again, or delete ${MANIFEST} if the file is meant to be another one.`
    : url === undefined
      ? 'Install it again, or name another folder or URL in ROLLMESH_STARTS.'
      : `Delete ${folder}: it is fetched again.`;
  const file = join(folder, MANIFEST);
  const manifest = existsSync(file) ? readFileSync(file) : undefined;
  if (!own) {
    if (!manifest) throw damaged(name, folder, `lacks ${MANIFEST}`, next);
    expectManifest(name, folder, manifest, wanted, next);
  }
  const files = await readOrRefuse(name, folder, next);
  // A folder of the user's own may be any checkpoint.
  const listed = manifest && listedIn(manifest);
  if (listed) expectFiles(name, folder, listed, files, next);
  return files;
}

async function readOrRefuse(name: string, folder: string, next: string): Promise<VersionFiles> {
  try {
    return await readPolicyFolder(folder);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!missing || !('path' in error)) throw error;
    throw damaged(name, folder, `lacks ${String(error.path).slice(folder.length + 1)}`, next);
  }
}

/** The folder of a start policy, once its files were read. Throws what `readStart` throws. */
export async function startFolder(name: string): Promise<string> {
  await readStart(name);
  return findStart(name)!.folder;
}
