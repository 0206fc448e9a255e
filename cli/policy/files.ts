/** Reads the user's files. A file that is missing or unreadable is the user's error, and the message names its path. */
import { wrongInput } from '../../core/errors.ts';
import { LARGEST_TEXT, readRegularFile } from '../../model/regular-file.ts';

/** The operating system's code for a failed file operation, such as ENOENT; undefined for other errors. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error
    ? error.code
    : undefined;

const unreadable = (path: string, code: string, cause?: unknown) =>
  wrongInput('file.unreadable', `The file ${path} cannot be read: ${code}.`, {
    expected: 'a file that is there and may be read',
    cause,
  });

/** Reads the file's bytes; undefined where there is no such file. */
export async function readOptional(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readRegularFile(path, LARGEST_TEXT);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw code === undefined ? error : unreadable(path, code, error);
  }
}

/** Reads the lines of a UTF-8 text file, without the empty one after the last line break. */
export async function readLines(path: string): Promise<string[]> {
  const bytes = await readOptional(path);
  if (!bytes) throw unreadable(path, 'ENOENT');
  const lines = decode(bytes, path).split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  if (lines.length) return lines;
  throw wrongInput('file.empty', `The file ${path} has no lines.`, { expected: 'at least one' });
}

/** Reads a JSON file that has to be there. */
export async function readJson(path: string): Promise<unknown> {
  const bytes = await readOptional(path);
  if (!bytes) throw unreadable(path, 'ENOENT');
  return parseJson(bytes, path);
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
