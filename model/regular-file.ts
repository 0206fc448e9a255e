/** Reading files that somebody else made: regular ones alone, of a size that is known before they are read. Node only. */
import { readFile, stat } from 'node:fs/promises';
import { wrongInput } from '../core/errors.ts';

/** Weights beyond this are none that this project can hold, bytes. */
export const LARGEST_WEIGHTS = 2 ** 30;
/** The same for config.json, tokenizer.json and their like. */
export const LARGEST_TEXT = 64 * 2 ** 20;

/**
 * @throws RollmeshError `file.kind` for a pipe, a device, a socket or a folder, through a link as well: reading one may never end.
 * `file.size` for one larger than `most` bytes. Errors of the file system are thrown as they are.
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
