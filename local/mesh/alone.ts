/** Has one process at a time change a file that several may: it reads what the others wrote. */
import { closeSync, openSync, rmSync, statSync } from 'node:fs';

/** A lock older than this belongs to a process that was killed, ms; its work takes a few milliseconds. */
const ABANDONED_MS = 5_000;
const WAIT_MS = 20;

/** Calls `write` while no other process does for the same file. */
export function alone<T>(path: string, write: () => T): T {
  const lock = `${path}.lock`;
  while (!taken(lock)) {
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    if (since !== undefined && Date.now() - since > ABANDONED_MS) rmSync(lock, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
  }
  try {
    return write();
  } finally {
    rmSync(lock, { force: true });
  }
}

function taken(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
