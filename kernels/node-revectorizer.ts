/**
 * V8's revectorizer: an experimental pass of its optimising compiler that makes one operation of 256 bits of two of 128. It is in V8 from version
 * 13 on, for x64 with AVX2, and is off by default. Flags of V8 hold for the whole process, and for what is compiled while they are set.
 */
import { setFlagsFromString } from 'node:v8';

const isThere = process.arch === 'x64' && Number.parseInt(process.versions.v8 ?? '0', 10) >= 13;

let isOn = false;

function set(on: boolean): void {
  setFlagsFromString(`--${on ? '' : 'no-'}experimental-wasm-revectorize`);
}

/** Turns it on for everything that the process compiles from now on. Returns false where the engine lacks it. */
export function enableRevectorizer(): boolean {
  if (isThere && !isOn) set(true);
  isOn = isThere;
  return isThere;
}

/**
 * Calls a function whose first calls of kernels compile them: optimised at once, and with the revectorizer. They keep that code when the flags are
 * set back. Returns undefined, and calls nothing, where the engine lacks it.
 */
export function compilePaired<T>(compile: () => T): T | undefined {
  if (!isThere) return undefined;
  set(true);
  setFlagsFromString('--no-liftoff');
  try {
    return compile();
  } finally {
    setFlagsFromString('--liftoff');
    set(isOn);
  }
}
