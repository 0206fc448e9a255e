/** Reads files from untrusted sources: only regular files, whose size is checked before they are read. Node only. */
import { readFile, stat } from 'node:fs/promises';
import { wrongInput } from '../core/errors.ts';

/** Largest config.json, tokenizer.json or similar file that is read, bytes. */
export const LARGEST_TEXT = 64 * 2 ** 20;

/**
 * The bytes of a file that may be read.
 *
 * @throws RollmeshError `file.kind` for a pipe, a device, a socket or a folder, also behind a link, because reading one may never end.
 * Errors of the file system are thrown as they are.
 */
export async function sizeOfRegularFile(path: string): Promise<number> {
  const about = await stat(path);
  if (about.isFile()) return about.size;
  throw wrongInput('file.kind', `${path} is no regular file.`, {
    expected: 'a file, or a link to one',
    next: 'Copy its contents into a file.',
  });
}

/** @throws RollmeshError as `sizeOfRegularFile` does, and `file.size` for a file larger than `most` bytes */
export async function readRegularFile(path: string, most: number): Promise<Uint8Array> {
  const size = await sizeOfRegularFile(path);
  if (size > most)
    throw wrongInput('file.size', `The file ${path} has ${size} bytes.`, {
      expected: `at most ${most}`,
      next: 'Choose a smaller checkpoint.',
    });
  return new Uint8Array(await readFile(path));
}
