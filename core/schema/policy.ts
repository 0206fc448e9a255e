/** A stored policy version: its files, and the manifest that commits them. */
import * as v from 'valibot';
import { longSha256Hex, sha256Hex } from '../random.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { count, finite, hash } from './numbers.ts';
import { id, name } from './sample.ts';

/** The parameter set that every policy has. */
export const MAIN_SET = 'main';

/**
 * Files a version may hold. model.safetensors is in the Hugging Face layout; tokenizer_config.json is kept for other tools;
 * optimizer.safetensors makes the learner stateless; memory.json is what a recipe carries from round to round. A recipe with
 * further parameter sets has their weights, optimisers, heads and adapters beside them, as <set>.safetensors,
 * <set>.optimizer.safetensors, <set>.head.safetensors and <set>.adapter.safetensors.
 */
export const versionFile = v.union(
  [
    v.picklist([
      'config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'model.safetensors',
      'optimizer.safetensors',
      'memory.json',
    ]),
    v.custom<`${string}.safetensors`>(
      (file) =>
        typeof file === 'string' &&
        /^[a-z][a-z0-9-]{0,31}(?:\.(?:optimizer|head|adapter))?\.safetensors$/.test(file),
    ),
  ],
  'Expected config.json, tokenizer.json, tokenizer_config.json, memory.json, or weights or optimiser of a parameter set',
);
export type VersionFile = v.InferOutput<typeof versionFile>;

/** The name of a parameter set. Two words are kept back: a set of that name would have its weights in a file that the main set has. */
export const setName = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9-]{0,31}$/, 'Expected a name of lower-case letters, digits and dashes'),
  v.check((set) => set !== 'model' && set !== 'optimizer', 'Expected another name than model and optimizer'),
);

/** The file of a set's weights, without its adapter. A version that has neither has not trained that set yet, and version 0's main set holds. */
export const weightsFile = (set: string = MAIN_SET): VersionFile =>
  set === MAIN_SET ? 'model.safetensors' : `${set}.safetensors`;

/**
 * The weights and the adapter of a set, by a version's files and those of version 0, `start`, which are read only where the version has
 * no weights of the set: its adapter is then trained on version 0's weights, or it is what the policy began with.
 */
export function setFiles<T>(
  own: Readonly<Partial<Record<string, T>>>,
  set: string = MAIN_SET,
  start: Readonly<Partial<Record<string, T>>> = own,
): { readonly weights: T | undefined; readonly adapter: T | undefined } {
  const weights = own[weightsFile(set)];
  const adapter = own[adapterFile(set)];
  if (weights !== undefined || adapter !== undefined)
    return { weights: weights ?? start[weightsFile()], adapter };
  return { weights: start[weightsFile()], adapter: start[adapterFile()] };
}

export const headFile = (set: string = MAIN_SET): VersionFile => `${set}.head.safetensors`;

/**
 * The file of a set's adapter, which is added to the set's weights; a set that has an adapter and no weights of its own is trained on version
 * 0's model.safetensors.
 */
export const adapterFile = (set: string = MAIN_SET): VersionFile => `${set}.adapter.safetensors`;

export const isAdapter = (file: string): boolean => file.endsWith('.adapter.safetensors');

export const optimizerFile = (set: string = MAIN_SET): VersionFile =>
  set === MAIN_SET ? 'optimizer.safetensors' : `${set}.optimizer.safetensors`;

/** The largest file that is stored as one object: a request body, which the platform limits to 100 MB. */
export const MAX_FILE_BYTES = 95 * 1024 * 1024;
/** A larger file is stored as shards: consecutive pieces of this size, the last of which may be shorter. */
export const SHARD_BYTES = 90 * 1024 * 1024;
/** An object of up to this size is uploaded in one request, a larger one in parts. */
export const WHOLE_UPLOAD_BYTES = 16 * 1024 * 1024;
/** The size of such a part; the last may be shorter. R2 wants at least 5 MiB of each but the last, and the same of all of these. */
export const PART_BYTES = 8 * 1024 * 1024;
/** The most bytes of an object of tasks: shards are smaller, and the keys of a million tasks take as many. */
export const MAX_TASKS_BYTES = 16 * 1024 * 1024;

const PART = /^(.+)\.(?:shard|delta)-(?:0|[1-9][0-9]{0,4})$/;

/** The name of the object that holds shard `index` (from 0) of a file. */
export const shardName = (file: string, index: number): string => `${file}.shard-${index}`;

/** The name of the object that holds the delta at place `index` (from 0) after a file's anchor. */
export const deltaName = (file: string, index: number): string => `${file}.delta-${index}`;

/** The name of an object that a version's files are stored in: a file, or a shard or delta of one, such as `model.safetensors.shard-0`. */
export const storedName = v.union(
  [
    versionFile,
    v.custom<string>(
      (name) => typeof name === 'string' && PART.test(name) && v.is(versionFile, PART.exec(name)![1]),
    ),
  ],
  'Expected a file of a version, or a shard or delta of one such as model.safetensors.shard-0',
);

/** sha256 and length of stored bytes. */
const stored = v.object({ sha256: hash, bytes: count });

/**
 * A file that is stored whole. `shards` are those that it is stored in, in their order; a file that is one object has none. `version` is
 * the version of the policy that stores it, where it is not the manifest's own.
 */
const wholeFile = v.object({
  ...stored.entries,
  version: v.exactOptional(count),
  shards: v.exactOptional(v.pipe(v.array(stored), v.minLength(2), v.maxLength(100_000))),
});

/** The most deltas after an anchor. */
export const MOST_DELTAS = 16;

/** A file that is made of another, its anchor, by deltas in their order (core/policy/delta.ts). `result` is the sha256 of what each makes. */
const replay = v.object({
  anchor: wholeFile,
  deltas: v.pipe(
    v.array(v.object({ ...stored.entries, version: v.exactOptional(count), result: hash })),
    v.minLength(1),
    v.maxLength(MOST_DELTAS),
  ),
});
export type Replay = v.InferOutput<typeof replay>;

/**
 * What a manifest says of a file: sha256 and length of its bytes, and where they are. With `replay` the anchor and the deltas say in which version
 * they are stored, and the file has neither `version` nor `shards` of its own. Large files, the weights that adapters are trained on, and anchors are
 * stored once and named by later versions.
 */
export const fileEntry = v.pipe(
  v.object({ ...wholeFile.entries, replay: v.exactOptional(replay) }),
  v.check(
    ({ sha256, bytes, version, shards, replay }) =>
      !replay ||
      (version === undefined &&
        shards === undefined &&
        replay.anchor.bytes === bytes &&
        replay.deltas.at(-1)!.result === sha256),
    'Expected deltas whose last result is the file',
  ),
);
export type FileEntry = v.InferOutput<typeof fileEntry>;

/** An object that holds a file, a shard or a delta of it, and the version that stores it. */
export interface StoredObject {
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly version: number;
}

/** The objects whose bytes, one after another, are the file, or its anchor where it has deltas. `own`: the version of the manifest. */
export function wholeOf(file: string, entry: FileEntry, own: number): readonly StoredObject[] {
  const { sha256, bytes, shards, version = own } = entry.replay?.anchor ?? entry;
  return shards
    ? shards.map((shard, i) => ({ name: shardName(file, i), ...shard, version }))
    : [{ name: file, sha256, bytes, version }];
}

/** The objects that hold the file's deltas, in their order. */
export const deltasOf = (file: string, { replay }: FileEntry, own: number): readonly StoredObject[] =>
  (replay?.deltas ?? []).map(({ sha256, bytes, version = own }, i) => ({
    name: deltaName(file, i),
    sha256,
    bytes,
    version,
  }));

/** All objects that the file is made of. */
export const objectsOf = (file: string, entry: FileEntry, own: number): readonly StoredObject[] => [
  ...wholeOf(file, entry, own),
  ...deltasOf(file, entry, own),
];

/** The manifest is written last: a version without one does not exist. */
export const manifest = v.object({
  policy: name,
  version: count,
  /** The version it was trained from; null for an imported one. */
  parent: v.nullable(count),
  files: v.record(v.string(), fileEntry),
  /** Ids of the groups it was trained on in this step; with the chain of parents this says what it contains. */
  groups: v.array(id),
  /** The round that made it; null for an imported one. */
  round: v.nullable(id),
  /** Training settings and, for an imported version, where it came from. */
  settings: v.record(v.string(), v.unknown()),
  /**
   * How the round's records were audited before training: the share that was drawn again, and the seed of that draw
   * (`npx rollmesh audit ROUND --fraction F --draw-seed S` draws the same). Absent = they were not audited.
   */
  audit: v.optional(v.object({ fraction: finite, drawSeed: v.string() })),
});
export type Manifest = v.InferOutput<typeof manifest>;

/** What a later version's manifest says of a file of this one: where each part of it is stored. */
export const seenFrom = ({ version: own }: Manifest, { replay, ...whole }: FileEntry): FileEntry => {
  const placed = <T extends { readonly version?: number }>(part: T) => ({
    ...part,
    version: part.version ?? own,
  });
  return replay
    ? { ...whole, replay: { anchor: placed(replay.anchor), deltas: replay.deltas.map(placed) } }
    : placed(whole);
};

/** The version that brought a file of the manifest: the one that stores it, or its last delta. */
export const broughtBy = ({ policy, version }: Manifest, entry: FileEntry) => ({
  name: policy,
  version: (entry.replay?.deltas.at(-1) ?? entry).version ?? version,
});

const canonicalBytes = (of: Manifest) => new Uint8Array(new TextEncoder().encode(canonicalJson(of)));

/** sha256 of a manifest in canonical JSON. The database keeps it, so that a manifest in the object store cannot be exchanged. */
export const manifestSha256 = (of: Manifest): string => sha256Hex(canonicalBytes(of));

/** Is this the manifest with that hash? By the platform's own code, for where a version is opened. */
export const isManifest = async (of: Manifest, sha256: string): Promise<boolean> =>
  (await longSha256Hex(canonicalBytes(of))) === sha256;

/** The bytes of a version's files by name. */
export type VersionFiles = Partial<Record<VersionFile, Uint8Array>>;

/** A file that need not be in memory. It can be read again from its beginning. */
export interface FileStream {
  readonly bytes: number;
  /** The bytes in order, in chunks of any size; a chunk is not changed afterwards. */
  readonly read: () => AsyncIterable<Uint8Array>;
}

/** The files of a version by name, in memory or streamed. */
export type FileSources = Partial<Record<VersionFile, Uint8Array | FileStream>>;

export const fileEntries = (files: VersionFiles): [VersionFile, Uint8Array][] =>
  Object.entries(files).flatMap(([file, bytes]) => (bytes ? [[file as VersionFile, bytes]] : []));

/** Does the file hold a model's weights, rather than an optimiser's state, a head, adapters, or text? */
export const holdsWeights = (file: string): boolean =>
  file.endsWith('.safetensors') && !/(?:^|\.)(?:optimizer|head|adapter)\.safetensors$/.test(file);

/**
 * Tells by the bytes whether two versions have the same weights: sha256 of the weights' file, or of the list of such files with their hashes where there
 * are adapters, heads or further sets. A manifest's own hash differs between equal runs, since it holds the draw of the audit.
 */
export function weightsSha256({ files }: Pick<Manifest, 'files'>): string {
  const weights = Object.entries(files)
    .filter(([file]) => file.endsWith('.safetensors') && !/(?:^|\.)optimizer\.safetensors$/.test(file))
    .map(([file, { sha256 }]) => [file, sha256] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const [only, ...others] = weights;
  return only && !others.length
    ? only[1]
    : sha256Hex(new Uint8Array(new TextEncoder().encode(canonicalJson(weights))));
}
