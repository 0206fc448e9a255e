/**
 * A receipt: one file with all that the weights of a version follow from. It holds the versions that nothing in it can be trained to, the manifests of
 * the chain, and for each of its rounds the order, the list of groups and the sealed records. Whoever has the file trains the chain again and compares
 * the bytes (`verifyVersion`), without the mesh that made it.
 *
 * The file is gzip of a head line, `rollmesh-receipt 1 SHA256`, a line of JSON, the index, and the bytes of the objects that it lists, in their order. The
 * sha256 in the head is the index's and the index has that of every object, so that nothing in a receipt can change unseen.
 */
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { imagesShown } from '../../core/images/shown.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { longSha256Hex, sha256Hex } from '../../core/random.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import { groupListing, type PolicyState, policyVersions, roundState } from '../../core/schema/answers.ts';
import { count, hash } from '../../core/schema/numbers.ts';
import {
  fileEntries,
  type Manifest,
  manifest,
  manifestSha256,
  type VersionFiles,
} from '../../core/schema/policy.ts';
import { keys, manifestKey } from '../../core/schema/round.ts';
import { type Code, code } from './code.ts';
import { nothingBetween, type VerifiedMesh, type VersionChain } from './verify-version.ts';

const object = v.object({ key: v.string(), sha256: hash, bytes: count });

const contents = v.object({
  /** The release that wrote it. */
  madeBy: v.string(),
  /** The code of its recipes there; a receipt of 0.1.0 may lack it. */
  code: v.exactOptional(code),
  policy: v.pick(policyVersions, ['name', 'current', 'next', 'versions']),
  /** The chain: the version that is taken as it is, and those that are trained again, oldest first. */
  from: count,
  versions: v.array(count),
  /** By `NAME@VERSION`. */
  manifests: v.record(v.string(), manifest),
  /** The rounds of the versions, and all groups of each by the round's id. */
  rounds: v.array(roundState),
  groups: v.record(v.string(), groupListing.entries.groups),
  objects: v.array(object),
});
export type ReceiptContents = v.InferOutput<typeof contents>;

export interface Receipt {
  readonly contents: ReceiptContents;
  /** Of the index, which names every object by its own: it stands for the whole receipt. */
  readonly sha256: string;
  readonly objects: ReadonlyMap<string, Uint8Array>;
}

const HEAD = 'rollmesh-receipt 1 ';
const jsonBytes = (of: ReceiptContents) => new TextEncoder().encode(JSON.stringify(of));
const refOf = ({ name, version }: PolicyRef): string => `${name}@${version}`;

/**
 * Reads all that the versions of the chain after `from` up to `to` follow from. Throws `verify.from` where `from` is no ancestor, `verify.imported` for a
 * version that no round made, and `version.pruned` where files are gone.
 */
export async function gatherReceipt(
  gateway: VerifiedMesh,
  chain: VersionChain,
  {
    from,
    to,
    madeBy,
    code,
  }: Pick<ReceiptContents, 'from' | 'madeBy'> & { readonly to: number; readonly code: Code },
): Promise<Receipt> {
  await chain.trained(to);
  const versions = chain.since(from, to);
  if (!versions.length) throw nothingBetween(from, to);
  const objects = new Map<string, Uint8Array>();
  const manifests: Record<string, Manifest> = {};
  const rounds: ReceiptContents['rounds'] = [];
  const groups: ReceiptContents['groups'] = {};
  const put = async (ref: PolicyRef, committed: string | undefined) => {
    if (manifests[refOf(ref)]) return;
    const files =
      ref.name === chain.name
        ? await chain.load(ref.version)
        : await gateway.getVersion(ref, undefined, committed);
    manifests[refOf(ref)] = await gateway.getManifest(ref);
    for (const [file, bytes] of fileEntries(files))
      objects.set(keys.version(ref.name, ref.version, file), bytes);
  };
  // Version 0 holds what an adapter is added to.
  for (const version of new Set([0, from])) await put({ name: chain.name, version }, undefined);
  for (const version of versions) {
    const made = await chain.trained(version);
    manifests[refOf({ name: chain.name, version })] = made.manifest;
    const round = await gateway.getRound(made.round);
    rounds.push(round);
    groups[round.id] = [...(await gateway.getGroups(round.id))];
    const written = keys.proposals(round.id);
    objects.set(written, await gateway.getObject(written, round.proposalsSha256 ?? undefined));
    const records = [written, ...made.manifest.groups.map((group) => keys.scored(round.id, group))];
    for (const key of records) {
      const record = objects.get(key) ?? (await gateway.getObject(key));
      objects.set(key, record);
      for (const image of imagesOf(record)) {
        const at = keys.tasks(image);
        objects.set(at, objects.get(at) ?? (await gateway.getObject(at, image)));
      }
    }
    for (const ref of Object.values(round.spec.roles))
      if (ref.name !== chain.name || !versions.includes(ref.version))
        await put(ref, round.manifests[manifestKey(round.spec, ref)]);
  }
  const policy = {
    ...chain.policy,
    versions: chain.policy.versions.filter(({ version }) => manifests[refOf({ name: chain.name, version })]),
  };
  const listed = [...objects].map(([key, bytes]) => ({ key, sha256: sha256Hex(bytes), bytes: bytes.length }));
  const made = {
    madeBy,
    code,
    policy,
    from,
    versions,
    manifests,
    rounds,
    groups,
    objects: listed,
  } as const;
  const checked = v.parse(contents, made);
  return { contents: checked, sha256: sha256Hex(jsonBytes(checked)), objects };
}

const samples = v.optional(v.array(v.object({ prompt: v.array(count) })), []);
const record = v.object({ samples, judgments: samples });

/** The images that the samples of a record show, by their hashes. */
function imagesOf(bytes: Uint8Array): string[] {
  const { samples, judgments } = v.parse(record, JSON.parse(new TextDecoder().decode(bytes)));
  return imagesShown([...samples, ...judgments].map(({ prompt }) => prompt));
}

const through = async (
  parts: BlobPart[],
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await new Response(new Blob(parts).stream().pipeThrough(stream)).arrayBuffer());

/** The bytes of the file. */
export const receiptBytes = ({ contents, sha256, objects }: Receipt): Promise<Uint8Array<ArrayBuffer>> =>
  through(
    [
      `${HEAD}${sha256}\n`,
      jsonBytes(contents),
      '\n',
      ...contents.objects.map(({ key }) => new Uint8Array(objects.get(key)!)),
    ],
    new CompressionStream('gzip'),
  );

const damaged = (
  what: string,
  next = 'Fetch the file again, or have it written again: `npx rollmesh policy receipt NAME@N --out FILE`.',
) =>
  new RollmeshError('give-up', 'receipt.damaged', `The receipt is not as it was written: ${what}.`, { next });

/** Reads a receipt. Throws `receipt.format` for a file that is none or of another format, and `receipt.damaged` where anything in it has changed. */
export const readReceipt = async (file: Uint8Array): Promise<Receipt> => receiptOf(await unpacked(file));

/** The receipt that lies in the unpacked bytes of a file. Throws as `readReceipt`. */
export async function receiptOf(bytes: Uint8Array): Promise<Receipt> {
  const [head, begin] = lineAt(bytes, 0);
  if (!head.startsWith(HEAD)) throw notOne(`begins with ${JSON.stringify(head.slice(0, 40))}`);
  const sha256 = head.slice(HEAD.length);
  const [line, end] = lineAt(bytes, begin);
  if (sha256Hex(bytes.subarray(begin, end - 1)) !== sha256)
    throw damaged('its index has another sha256 than its head says');
  const parsed = v.safeParse(contents, JSON.parse(line));
  if (!parsed.success) throw notOne(`has an index that cannot be read: ${v.summarize(parsed.issues)}`);
  const objects = new Map<string, Uint8Array>();
  let at = end;
  for (const { key, sha256, bytes: length } of parsed.output.objects) {
    const object = bytes.slice(at, at + length);
    at += length;
    if (object.length !== length || (await longSha256Hex(object)) !== sha256)
      throw damaged(`the object ${key} has another sha256 than the index says`);
    objects.set(key, object);
  }
  if (at !== bytes.length) throw damaged(`it has ${bytes.length} bytes and not ${at}`);
  return { contents: parsed.output, sha256, objects };
}

/** The line that begins at a byte, and where the next one begins. */
function lineAt(bytes: Uint8Array, begin: number): [string, number] {
  const end = bytes.indexOf(10, begin);
  return [new TextDecoder().decode(bytes.subarray(begin, end < 0 ? begin : end)), end + 1];
}

async function unpacked(file: Uint8Array): Promise<Uint8Array> {
  if (file[0] !== 0x1f || file[1] !== 0x8b) throw notOne('is not gzip');
  try {
    return await through([new Uint8Array(file)], new DecompressionStream('gzip'));
  } catch {
    throw damaged('it cannot be unpacked, as where a download was cut off');
  }
}

const notOne = (why: string) =>
  wrongInput('receipt.format', `The file ${why}.`, {
    expected: 'a receipt of format 1, as `npx rollmesh policy receipt NAME@N --out FILE` writes it',
    next: 'A receipt of another format is read by the release that wrote it.',
  });

/** What a reader is told of a receipt before its versions are trained again. `trainedMs`: how long that took where they were made. */
export const aboutReceipt = ({
  contents: { policy, from, versions, manifests, rounds, madeBy, code },
}: Receipt) => ({
  policy: policy.name,
  from,
  to: versions.at(-1) ?? from,
  versions: versions.length,
  groups: versions.reduce(
    (sum, version) => sum + (manifests[refOf({ name: policy.name, version })]?.groups.length ?? 0),
    0,
  ),
  trainedMs: rounds.reduce((sum, { report }) => sum + (report?.learnerMs ?? 0), 0),
  madeBy,
  code,
});

/** Throws `receipt.recipe` where a recipe of the receipt is not among those that are here: without it nothing can be trained again. */
export function requireRecipes(names: readonly string[], here: Pick<Registry, 'recipes'>): void {
  const missing = names.find((name) => !here.recipes.some((recipe) => recipe.name === name));
  if (missing === undefined) return;
  throw wrongInput('receipt.recipe', `The receipt is of recipe ${missing}, which is not here.`, {
    expected: 'a shipped recipe, one of the state folder, or a module that --recipe names',
    next: `Get the module from whoever wrote the receipt: \`npx rollmesh policy check FILE --recipe MODULE\`. A recipe on files of questions is in the state folder of whoever orders a run on the same files with the same settings.`,
  });
}

/** A receipt as the mesh that it was read from. Versions of the chain are there from when they are trained again. */
export function meshOfReceipt({
  contents,
  objects,
}: Receipt): VerifiedMesh & { keep(version: number, files: VersionFiles): void } {
  const policy: PolicyState = contents.policy;
  const trained = new Map<number, VersionFiles>();
  const without = (what: string) => damaged(`it lacks ${what}`);
  const manifestOf = (ref: PolicyRef) => {
    const of = contents.manifests[refOf(ref)];
    if (!of) throw without(`the manifest of ${refOf(ref)}`);
    return of;
  };
  return {
    keep: (version, files) => void trained.set(version, files),
    getPolicy: async (asked) => (asked === policy.name ? policy : null),
    listPolicies: async () => [policy.name],
    getManifest: async (ref) => manifestOf(ref),
    getVersion: async (ref, _wanted, committed) => {
      const own = manifestOf(ref);
      if (committed !== undefined && manifestSha256(own) !== committed)
        throw damaged(`the manifest of ${refOf(ref)} is another one than was committed`);
      const again = ref.name === policy.name ? trained.get(ref.version) : undefined;
      if (again) return again;
      const files = Object.keys(own.files).map((file) => {
        const bytes = objects.get(keys.version(ref.name, ref.version, file));
        if (!bytes) throw without(`${file} of ${refOf(ref)}`);
        if (sha256Hex(bytes) !== own.files[file]!.sha256)
          throw damaged(`${file} of ${refOf(ref)} is another one than its manifest names`);
        return [file, bytes];
      });
      return Object.fromEntries(files);
    },
    getRound: async (id) => {
      const round = contents.rounds.find((one) => one.id === id);
      if (!round) throw without(`round ${id}`);
      return round;
    },
    getGroups: async (id) => contents.groups[id] ?? [],
    getObject: async (key, sha256) => {
      const bytes = objects.get(key);
      if (!bytes) throw without(`the object ${key}`);
      if (sha256 !== undefined && sha256Hex(bytes) !== sha256)
        throw damaged(`the object ${key} is another one than its round names`);
      return bytes;
    },
  };
}
