/** Files that the user chose on the page /try, read into memory where a tab holds them. */
import { wrongInput } from '../../core/errors.ts';
import type { UserFiles } from './told.ts';

/** The most bytes of a file that a tab takes. Training holds four copies of the weights, and WebAssembly's memory ends at 4 GiB. */
export const MOST_BYTES = {
  checkpoint: 256 * 1024 * 1024,
  questions: 32 * 1024 * 1024,
  receipt: 256 * 1024 * 1024,
} as const;

const inMegabytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MB`;

/** Throws `try.size` for a file that is too large, before it is read. Undefined where none was chosen. */
export async function readChosen(
  files: readonly File[],
  kind: keyof typeof MOST_BYTES,
): Promise<UserFiles | undefined> {
  if (!files.length) return undefined;
  const most = MOST_BYTES[kind];
  const large = files.find(({ size }) => size > most);
  if (large)
    throw wrongInput('try.size', `The file ${large.name} has ${inMegabytes(large.size)}.`, {
      expected: `at most ${inMegabytes(most)}, which is what a tab holds`,
      next: 'Use it outside the browser: `npx rollmesh start`, or `npx rollmesh policy check` for a receipt.',
    });
  const read = files.map(async (file) => [file.name, new Uint8Array(await file.arrayBuffer())] as const);
  return Object.fromEntries(await Promise.all(read));
}
