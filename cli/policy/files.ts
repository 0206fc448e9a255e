/** Reads the user's files. A file that is missing or unreadable is the user's error, and the message names its path. */
import { existsSync } from 'node:fs';
import { wrongInput } from '../../core/errors.ts';
import { LARGEST_TEXT, readRegularFile } from '../../model/regular-file.ts';

/** The operating system's code for a failed file operation, such as ENOENT; undefined for other errors. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error
    ? error.code
    : undefined;

export const unreadable = (path: string, code: string, cause?: unknown) =>
  wrongInput('file.unreadable', `The file ${path} cannot be read: ${code}.`, {
    expected: 'a file that is there and may be read',
    cause,
  });

/** Reads the file's bytes; undefined where there is no such file. */
export async function readOptional(path: string, most = LARGEST_TEXT): Promise<Uint8Array | undefined> {
  try {
    return await readRegularFile(path, most);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw code === undefined ? error : unreadable(path, code, error);
  }
}

/** Reads the bytes of a file that has to be there. */
export async function readBytes(path: string, most = LARGEST_TEXT): Promise<Uint8Array> {
  const bytes = await readOptional(path, most);
  if (bytes) return bytes;
  throw unreadable(path, 'ENOENT');
}

/** Throws `file.exists` where the file that is to be written is there and may not be written over. */
export function refuseExisting(out: string, force: boolean): void {
  if (!existsSync(out) || force) return;
  throw wrongInput('file.exists', `The file ${out} is there already.`, {
    next: 'Choose another, or write over it with --force.',
  });
}

/** Reads the lines of a UTF-8 text file, without the empty one after the last line break. */
export async function readLines(path: string): Promise<string[]> {
  const lines = decode(await readBytes(path), path).split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  if (lines.length) return lines;
  throw wrongInput('file.empty', `The file ${path} has no lines.`, { expected: 'at least one' });
}

/** Reads a JSON file that has to be there. */
export async function readJson(path: string): Promise<unknown> {
  return parseJson(await readBytes(path), path);
}

export function parseJson(bytes: Uint8Array, path: string): unknown {
  try {
    return JSON.parse(decode(bytes, path)) as unknown;
  } catch (cause) {
    throw wrongInput('file.json', `The file ${path} is not JSON.`, { expected: 'JSON in UTF-8', cause });
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw wrongInput('file.encoding', `The file ${path} is not UTF-8.`, { expected: 'UTF-8 text', cause });
  }
}
