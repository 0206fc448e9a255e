/**
 * The lock of a state folder: one process at a time may run a mesh on it, and writes itself into `mesh.json`. It is no lock of the
 * operating system: the file of a killed process is recognised by the process id and the time when the process of that id began.
 * Whether the mesh answers does not matter: one that hangs, or whose machine slept, still writes to the folder.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { bornOf } from '../process-birth.ts';

const owner = v.object({
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** When that process began, see process-birth.ts. Null where it could not be known. */
  born: v.optional(v.nullable(v.string()), null),
  /** The address of a gateway that others may use; null while it starts, and where a command runs one only for itself. */
  url: v.nullable(v.string()),
});
export type Owner = v.InferOutput<typeof owner>;

/** The folders that this process has claimed. */
const held = new Set<string>();

export const lockPath = (stateDir: string): string => join(stateDir, 'mesh.json');

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function parseOwner(text: string): Owner | undefined {
  try {
    return v.parse(owner, JSON.parse(text));
  } catch {
    return undefined;
  }
}

function isAlive({ pid, born }: Owner, path: string): boolean {
  const now = bornOf(pid);
  if (now === null) return false;
  // The owner died, and another process got its id.
  if (born !== null && now !== undefined && now !== born) return false;
  return pid !== process.pid || held.has(path);
}

/** The process that runs a mesh on this folder; undefined where there is none. The file of a dead process is removed. */
export function ownerOf(stateDir: string): Owner | undefined {
  const path = lockPath(stateDir);
  const text = readText(path);
  if (text === undefined) return undefined;
  const found = parseOwner(text);
  if (found && isAlive(found, path)) return found;
  // Not removed if another process claimed the folder since it was read.
  if (readText(path) === text) rmSync(path, { force: true });
  return undefined;
}

/** A process's claim to a folder. */
export interface Claim {
  /** Lets other commands use the gateway at this address until `release`. */
  share(url: string): void;
  release(): void;
}

/** Claims a folder that nobody uses; returns undefined if another process was quicker. */
export function claim(stateDir: string): Claim | undefined {
  const path = lockPath(stateDir);
  const born = bornOf(process.pid) ?? null;
  const write = (url: string | null, flag: 'w' | 'wx') =>
    writeFileSync(path, `${JSON.stringify({ pid: process.pid, born, url } satisfies Owner)}\n`, { flag });
  try {
    write(null, 'wx');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  }
  held.add(path);
  const release = () => {
    process.off('exit', release);
    held.delete(path);
    rmSync(path, { force: true });
  };
  process.on('exit', release);
  return { share: (url) => write(url, 'w'), release };
}
