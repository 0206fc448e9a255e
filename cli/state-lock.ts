/**
 * Who uses a state folder: one process at a time may run a mesh on it, and says so in `mesh.json`. Not a lock of the operating
 * system: what a killed process left is recognised by its process id and by an address that does not answer.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';

const owner = v.object({
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** Of a gateway that others may use as well; null while it starts, and where a command runs one for itself. */
  url: v.nullable(v.string()),
});
export type Owner = v.InferOutput<typeof owner>;

const HEALTH_MS = 5_000;

/** Claims of this very process. */
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

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(HEALTH_MS) })).ok;
  } catch {
    return false;
  }
}

async function isAlive({ pid, url }: Owner, path: string): Promise<boolean> {
  if (!isRunning(pid)) return false;
  if (url !== null) return answers(url);
  // A process id that was given to us after its owner died is not another process.
  return pid !== process.pid || held.has(path);
}

/** The process that runs a mesh on this folder now; undefined where there is none. What a dead one left is removed. */
export async function ownerOf(stateDir: string): Promise<Owner | undefined> {
  const path = lockPath(stateDir);
  const text = readText(path);
  if (text === undefined) return undefined;
  const found = parseOwner(text);
  if (found && (await isAlive(found, path))) return found;
  // Unless somebody claimed the folder since we read.
  if (readText(path) === text) rmSync(path, { force: true });
  return undefined;
}

/** What a process that owns a folder holds. */
export interface Claim {
  /** Lets other commands use the gateway at this address until `release`. */
  share(url: string): void;
  release(): void;
}

/** Claims a folder that nobody uses, or undefined where another process was quicker. */
export function claim(stateDir: string): Claim | undefined {
  const path = lockPath(stateDir);
  const write = (url: string | null, flag: 'w' | 'wx') =>
    writeFileSync(path, `${JSON.stringify({ pid: process.pid, url } satisfies Owner)}\n`, { flag });
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
