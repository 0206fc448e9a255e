/** Reads files from untrusted sources: only regular files, whose size is checked before they are read. Node only. */
import { readFile, stat } from 'node:fs/promises';
import { wrongInput } from '../core/errors.ts';

/** Largest file of weights that is read, bytes; the project cannot hold larger ones. */
export const LARGEST_WEIGHTS = 2 ** 30;
/** Largest config.json, tokenizer.json or similar file that is read, bytes. */
export const LARGEST_TEXT = 64 * 2 ** 20;

/**
 * @throws RollmeshError `file.kind` for a pipe, a device, a socket or a folder, also behind a link, because reading one may never end;
 * `file.size` for a file larger than `most` bytes. Errors of the file system are thrown as they are.
 */
export async function readRegularFile(path: string, most: number): Promise<Uint8Array> {
  const about = await stat(path);
  if (!about.isFile())
    throw wrongInput('file.kind', `${path} is no regular file.`, {
      expected: 'a file, or a link to one',
      next: 'Copy its contents into a file.',
    });
  if (about.size > most)
    throw wrongInput('file.size', `The file ${path} has ${about.size} bytes.`, {
      expected: `at most ${most}`,
      next: 'Choose a smaller checkpoint.',
    });
  return new Uint8Array(await readFile(path));
}
