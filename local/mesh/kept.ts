/**
 * Keeps on disk what takes seconds to make and is the same for the same files: the bundles of the Workers, and wrangler's reading of a
 * configuration. What was kept is used only while each file that it was made from has the bytes that it had then.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CACHES, INSTALLATION, installed } from './installation.ts';

const FOLDER = join(CACHES, 'rollmesh');
/** The most results that are kept; the oldest are deleted. A guest's recipes give their Workers bundles of their own. */
const MOST = 64;
const ROUNDING_MS = 1_000;

export interface Made<T> {
  /** Plain data: what JSON gives back is the same. */
  readonly value: T;
  /** Absolute paths of the files that it was made from. */
  readonly inputs: readonly string[];
}

/** The first line of a file. The others are the value's JSON, which is several megabytes of code: as a text in JSON it would be read twice. */
interface Head {
  readonly inputs: Readonly<Record<string, string>>;
  /** The hash of the value's JSON, so that a damaged file is made again. */
  readonly sha256: string;
}

const hashOf = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Returns what `make` makes. Where it was made before, for the same `name` and from files that are unchanged, nothing is made.
 * @param name what is made, and every setting that it depends on
 */
export async function kept<T>(
  name: readonly (string | undefined)[],
  make: () => Promise<Made<T>>,
  folder: string = FOLDER,
): Promise<T> {
  // The pinned versions of the tools that make it are in package.json.
  const manifest = installed('package.json');
  const file = join(folder, `${hashOf(JSON.stringify([INSTALLATION, ...name])).slice(0, 32)}.json`);
  const found = read(file);
  if (found && isCurrent(found.head)) return JSON.parse(found.value.toString()) as T;
  const began = Date.now();
  const { value, inputs } = await make();
  // A file that was changed meanwhile may not be the one that was read. File systems round their times.
  if (inputs.some((input) => statSync(input).mtimeMs > began - ROUNDING_MS)) return value;
  const text = JSON.stringify(value);
  const head: Head = {
    inputs: Object.fromEntries([manifest, ...inputs].map((input) => [input, hashOf(readFileSync(input))])),
    sha256: hashOf(text),
  };
  write(file, `${JSON.stringify(head)}\n${text}`);
  return value;
}

function read(file: string): { readonly head: Head; readonly value: Buffer } | undefined {
  try {
    const bytes = readFileSync(file);
    const end = bytes.indexOf('\n');
    const head = JSON.parse(bytes.toString('utf8', 0, end)) as Head;
    const value = bytes.subarray(end + 1);
    return hashOf(value) === head.sha256 ? { head, value } : undefined;
  } catch {
    return undefined;
  }
}

function isCurrent({ inputs }: Head): boolean {
  try {
    return Object.entries(inputs).every(([input, sha256]) => hashOf(readFileSync(input)) === sha256);
  } catch {
    return false;
  }
}

/** Writes to a name of its own first, since several processes may start at once. A folder that cannot be written to costs time and nothing else. */
function write(file: string, text: string): void {
  const own = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(own, text);
    renameSync(own, file);
    prune(dirname(file));
  } catch {
    attempt(() => rmSync(own, { force: true }));
  }
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // Nothing was kept, and nothing is lost.
  }
}

function prune(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  if (files.length <= MOST) return;
  const byAge = files.map((file) => ({ file, at: statSync(file).mtimeMs })).sort((a, b) => b.at - a.at);
  for (const { file } of byAge.slice(MOST)) rmSync(file, { force: true });
}
