/** The rows of a JSONL, CSV or Parquet file as plain objects, each with its place. Nothing is interpreted here. */
import { wrongInput } from '../../core/errors.ts';
import { isObject } from '../../core/text/is-object.ts';
import { joinBytes } from '../../core/text/join-bytes.ts';
import { DEEPEST, isEndless, isShallow } from '../../core/text/nesting.ts';
import { ENDLESS, type Fault, type Row, type Rows } from './row.ts';

/** A file in memory, or its parts one after the other as it is read. */
export type FileBytes = Uint8Array | AsyncIterable<Uint8Array>;

/** Decodes a file, or its parts one after the other. Throws `file.encoding`. */
function decoder(name: string): (bytes?: Uint8Array) => string {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  return (bytes) => {
    try {
      return utf8.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw wrongInput('file.encoding', `The file ${name} is not UTF-8.`, { expected: 'UTF-8 text', cause });
    }
  };
}

function decode(name: string, bytes: Uint8Array): string {
  const next = decoder(name);
  return next(bytes) + next();
}

/** The parts of a file as one. */
export async function joined(bytes: FileBytes): Promise<Uint8Array> {
  if (bytes instanceof Uint8Array) return bytes;
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return joinBytes(parts);
}

const TOO_DEEP = `it is nested deeper than ${DEEPEST} levels`;

/** Digits that a double certainly keeps; it keeps more where they are those that it is written with. */
const KEPT_DIGITS = 15;

/**
 * JSON in which a number with digits that a double does not keep is its text: an answer of twenty digits has to stay what it is. `source` is the text
 * of a number as it stands in the line.
 */
function parseExactly(text: string): unknown {
  if (!/[\d.]{16}/.test(text)) return JSON.parse(text);
  const exact = (_: string, value: unknown, { source }: { readonly source?: string } = {}): unknown =>
    typeof value === 'number' &&
    source !== undefined &&
    /^-?\d+(?:\.\d+)?$/.test(source) &&
    source.replace(/^-?0*\.?0*|\./g, '').length > KEPT_DIGITS &&
    String(value) !== source
      ? source
      : value;
  return JSON.parse(text, exact);
}

/** A line as a row; otherwise what is wrong with it. */
function jsonLine(text: string): Row['value'] | string {
  if (text.trim() === '') return 'it is empty';
  try {
    const value: unknown = parseExactly(text);
    if (!isObject(value)) return 'it is no JSON object';
    if (!isShallow(value)) return TOO_DEEP;
    return isEndless(value) ? ENDLESS : value;
  } catch (error) {
    return `it is not JSON (${error instanceof Error ? error.message : String(error)})`;
  }
}

/**
 * The lines of each part of a file, which ends where the last of them that is not empty ends. An empty line is a fault, except at the end of the file:
 * one in the middle is more often a lost task than formatting.
 */
async function* jsonLines(name: string, bytes: FileBytes): AsyncGenerator<Rows> {
  const next = decoder(name);
  let line = 0;
  /** What is read and no row yet: it may go on, or it may be the end. */
  let rest = '';
  let hasEnd = false;
  const rowsOf = (texts: readonly string[]): Rows => {
    const rows: Row[] = [];
    const faults: Fault[] = [];
    for (const text of texts) {
      const value = jsonLine(text);
      line++;
      if (typeof value === 'string') faults.push({ line, what: value });
      else rows.push({ line, value });
    }
    return { rows, faults };
  };
  for await (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
    const text = next(part);
    rest += text;
    hasEnd ||= text.includes('\n');
    // A line may be as long as the file: what is read is looked through again only where it may hold a whole line now.
    if (!hasEnd || text.trim() === '') continue;
    const end = rest.trimEnd().lastIndexOf('\n');
    if (end < 0) continue;
    yield rowsOf(rest.slice(0, end).split(/\r?\n/));
    rest = rest.slice(end + 1);
    hasEnd = rest.includes('\n');
  }
  rest = (rest + next()).trimEnd();
  if (rest !== '' || line === 0) yield rowsOf(rest.split(/\r?\n/));
}

/** Is it a file of lines of JSON, which is read a part after the other? */
export const isJsonLines = (name: string): boolean => /\.(?:jsonl|ndjson)$/i.test(name);

/**
 * Reads a file by the end of its name, part by part; what reads CSV and Parquet is loaded when a file needs it. Throws `wrong-input` where the whole file cannot be read; faults are of single
 * rows.
 */
export async function* readRows(name: string, bytes: FileBytes): AsyncGenerator<Rows> {
  if (isJsonLines(name)) return yield* jsonLines(name, bytes);
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase();
  switch (ending) {
    case 'csv':
      return yield (await import('./csv-rows.ts')).csvRows(name, decode(name, await joined(bytes)));
    case 'parquet':
      return yield await (await import('./parquet-rows.ts')).parquetRows(name, await joined(bytes));
  }
  throw wrongInput('tasks.format', `The kind of the file ${name} is not known.`, {
    expected: 'a name that ends in .jsonl, .ndjson, .csv or .parquet',
    next: 'Rename or convert the file.',
  });
}
