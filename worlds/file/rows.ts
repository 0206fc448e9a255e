/** The rows of a JSONL, CSV or Parquet file as plain objects, each with its place. Nothing is interpreted here. */
import { CsvError, parse } from 'csv-parse/sync';
import { parquetMetadata, parquetReadObjects, parquetSchema, type SchemaTree } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { wrongInput } from '../../core/errors.ts';
import { DEEPEST, isEndless, isShallow } from '../../core/text/nesting.ts';

export interface Row {
  /** Line of a JSONL or CSV file where the row begins, row of a Parquet file; both from 1. */
  readonly line: number;
  readonly value: Readonly<Record<string, unknown>>;
  /** Of a CSV file: the cells that were read as JSON, as they stand. A question and an answer are texts, brackets or not. */
  readonly texts?: Readonly<Record<string, string>>;
}

/** What is wrong at a place of a file. */
export interface Fault {
  readonly line: number;
  readonly what: string;
}

/** A file in memory, or its parts one after the other as it is read. */
export type FileBytes = Uint8Array | AsyncIterable<Uint8Array>;

export interface Rows {
  readonly rows: readonly Row[];
  readonly faults: readonly Fault[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const TOO_DEEP = `it is nested deeper than ${DEEPEST} levels`;

const ENDLESS = 'it holds a number beyond 1.8e308; write it as text';

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

/** A cell that holds a JSON array or object is read as one: options, tests, messages, metadata. One that is nested too deeply stays text. */
function cellValue(cell: string): unknown {
  if (!/^\s*[[{]/.test(cell)) return cell;
  try {
    const value: unknown = JSON.parse(cell);
    return isShallow(value) && !isEndless(value) ? value : cell;
  } catch {
    return cell;
  }
}

function csv(name: string, text: string): Rows {
  try {
    const records: { record: Record<string, string>; info: { lines: number }; raw: string }[] = parse(
      // The parser counts a carriage return as a line of its own.
      text.replace(/\r\n?/g, '\n'),
      { columns: true, bom: true, info: true, raw: true, skip_empty_lines: true },
    );
    const rows = records.map(({ record, info, raw }) => {
      // `lines` is where the record ends; a quoted cell may hold line ends.
      const line = info.lines - (raw.trim().split('\n').length - 1);
      const cells = Object.entries(record).filter(([, cell]) => cell !== '');
      const value = Object.fromEntries(cells.map(([column, cell]) => [column, cellValue(cell)]));
      const texts = Object.fromEntries(cells.filter(([column, cell]) => value[column] !== cell));
      return { line, value, texts };
    });
    return { rows, faults: [] };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw wrongInput('tasks.csv', `The file ${name} is no CSV: ${error.message}.`, {
      expected: 'a first line with the names of the columns, and as many cells in every record',
      cause: error,
    });
  }
}

/** Values as JSON has them: big integers as numbers where they are exact, dates as ISO texts. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainValue);
  if (value instanceof Uint8Array) return undefined;
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== null && item !== undefined)
        .map(([key, item]) => [key, plainValue(item)]),
    );
  return value;
}

/** The shortest decimal that is the same number in single precision: 0.1 and not 0.10000000149011612. */
function shortestSingle(value: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

const withSingles = (value: unknown): unknown => {
  if (typeof value === 'number') return Number.isInteger(value) ? value : shortestSingle(value);
  if (Array.isArray(value)) return value.map(withSingles);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withSingles(inner)]))
    : value;
};

/** The columns whose numbers are all of single precision. */
function singleColumns(file: ArrayBuffer): Set<string> {
  const types = (node: SchemaTree): string[] =>
    node.children.length ? node.children.flatMap(types) : [node.element.type ?? ''];
  const columns = parquetSchema(parquetMetadata(file)).children;
  const single = columns.filter((column) => {
    const all = types(column);
    return all.includes('FLOAT') && !all.includes('DOUBLE');
  });
  return new Set(single.map(({ element }) => element.name));
}

async function parquet(name: string, bytes: Uint8Array): Promise<Rows> {
  try {
    const file = bytes.slice().buffer;
    const records = await parquetReadObjects({ file, compressors });
    const singles = singleColumns(file);
    const rowOf = (record: Record<string, unknown>): Row['value'] =>
      Object.fromEntries(
        Object.entries(plainValue(record) as Row['value']).map(([column, value]) => [
          column,
          singles.has(column) ? withSingles(value) : value,
        ]),
      );
    const rows = records.map((record, i) => ({ line: i + 1, value: rowOf(record) }));
    const faults = rows.flatMap(({ line, value }) => (isEndless(value) ? [{ line, what: ENDLESS }] : []));
    return { rows: rows.filter(({ value }) => !isEndless(value)), faults };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw wrongInput('tasks.parquet', `The file ${name} cannot be read as Parquet: ${why}.`, {
      expected: 'a Parquet file whose columns are texts, numbers, lists and structures',
      cause,
    });
  }
}

/** Is it a file of lines of JSON, which is read a part after the other? */
export const isJsonLines = (name: string): boolean => /\.(?:jsonl|ndjson)$/i.test(name);

/** Reads a file by the end of its name, part by part. Throws `wrong-input` where the whole file cannot be read; faults are of single rows. */
export async function* readRows(name: string, bytes: FileBytes): AsyncGenerator<Rows> {
  if (isJsonLines(name)) return yield* jsonLines(name, bytes);
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase();
  switch (ending) {
    case 'csv':
      return yield csv(name, decode(name, await joined(bytes)));
    case 'parquet':
      return yield await parquet(name, await joined(bytes));
  }
  throw wrongInput('tasks.format', `The kind of the file ${name} is not known.`, {
    expected: 'a name that ends in .jsonl, .ndjson, .csv or .parquet',
    next: 'Rename or convert the file.',
  });
}
