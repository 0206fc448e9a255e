/**
 * Archives of checkpoints: a few files in the format of tar (POSIX ustar), compressed by gzip or not. Only regular files are read, and only by the
 * last part of their names, so that nothing of an archive says where anything is written.
 */
import { gunzipSync } from 'fflate';
import { wrongInput } from '../../core/errors.ts';

const BLOCK = 512;

const bad = (what: string) =>
  wrongInput('tinker.archive', `The checkpoint's archive cannot be read: ${what}.`, {
    expected: 'a tar of adapter_config.json and adapter_model.safetensors, compressed by gzip or not',
    next: 'Ask the server to save the weights again.',
  });

/** Text in a field of a header, up to its first zero. */
const field = (header: Uint8Array, at: number, length: number): string =>
  new TextDecoder('latin1').decode(header.subarray(at, at + length)).split('\0')[0]!;

/** A number in octal digits, or in base 256 where its first bit is set. */
function numberIn(header: Uint8Array, at: number, length: number): number {
  if (header[at]! & 0x80)
    return header.subarray(at + 1, at + length).reduce((sum, byte) => 256 * sum + byte, 0);
  return Number.parseInt(field(header, at, length).trim() || '0', 8);
}

/** The sum of the header's bytes with its own field read as spaces. */
const checksum = (header: Uint8Array): number =>
  header.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 32 : byte), 0);

const isFile = (type: string): boolean => type === '0' || type === '';

/** The files of an archive by the last part of their names. @throws RollmeshError `tinker.archive` */
export function readArchive(archive: Uint8Array): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const bytes = archive[0] === 0x1f && archive[1] === 0x8b ? unzipped(archive) : archive;
  for (let at = 0; ; ) {
    const header = bytes.subarray(at, at + BLOCK);
    if (header.length < BLOCK) throw bad(`it ends after ${bytes.length} bytes, in the middle`);
    if (header.every((byte) => byte === 0)) return files;
    if (checksum(header) !== numberIn(header, 148, 8)) throw bad(`the header at byte ${at} is damaged`);
    const size = numberIn(header, 124, 12);
    const [from, to] = [at + BLOCK, at + BLOCK + size];
    if (!(size >= 0 && to <= bytes.length)) throw bad(`it ends after ${bytes.length} bytes, in the middle`);
    const [type, path] = [field(header, 156, 1), field(header, 0, 100)];
    if (type === '1' || type === '2') throw bad(`it has the link ${path}`);
    const name = path.replace(/^.*\//, '');
    if (isFile(type) && files.has(name)) throw bad(`it has two files ${name}`);
    if (isFile(type)) files.set(name, bytes.subarray(from, to));
    at = from + BLOCK * Math.ceil(size / BLOCK);
  }
}

function unzipped(archive: Uint8Array): Uint8Array {
  try {
    return gunzipSync(archive);
  } catch (error) {
    throw bad(`gzip says ${(error as Error).message}`);
  }
}

function headerOf(name: string, size: number): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => header.set(new TextEncoder().encode(text), at);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  put(0, name);
  put(100, octal(0o644, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(size, 11));
  put(136, octal(0, 11));
  put(156, '0');
  put(257, 'ustar\x0000');
  put(148, `${octal(checksum(header), 6)} `);
  return header;
}

/** An archive of files with names of at most 100 bytes; the same files give the same bytes. */
export function writeArchive(files: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const blocks = Object.entries(files).flatMap(([name, bytes]) => [
    headerOf(name, bytes.length),
    bytes,
    new Uint8Array((BLOCK - (bytes.length % BLOCK)) % BLOCK),
  ]);
  blocks.push(new Uint8Array(2 * BLOCK));
  const archive = new Uint8Array(blocks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const block of blocks) {
    archive.set(block, at);
    at += block.length;
  }
  return archive;
}
