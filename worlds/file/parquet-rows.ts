/** The rows of a Parquet file. */
import { parquetMetadata, parquetReadObjects, parquetSchema, type SchemaTree } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { wrongInput } from '../../core/errors.ts';
import { kindOf } from '../../core/images/decode.ts';
import { isObject } from '../../core/text/is-object.ts';
import { isEndless } from '../../core/text/nesting.ts';
import { ENDLESS, type Row, type Rows } from './row.ts';

/** Bytes of which the file does not say what they are, as text; undefined where they are none. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Values as JSON has them: big integers as numbers where they are exact, dates as ISO texts. `keeps` bytes that are no text as they are. */
function plainValue(value: unknown, keeps = false): unknown {
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => plainValue(item, keeps));
  if (value instanceof Uint8Array) return isNoText(value) ? (keeps ? value : undefined) : textOf(value);
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== null && item !== undefined)
        .map(([key, item]) => [key, plainValue(item, keeps)]),
    );
  return value;
}

const isNoText = (bytes: Uint8Array): boolean => kindOf(bytes) !== null || textOf(bytes) === undefined;

const holdsBytes = (value: unknown): boolean =>
  value instanceof Uint8Array
    ? isNoText(value)
    : (Array.isArray(value) || isObject(value)) && Object.values(value).some(holdsBytes);

/** The columns of a record that hold bytes which are no text, such as files of images; absent where none does. */
function withBytes(record: Record<string, unknown>): Pick<Row, 'withBytes'> {
  const found = Object.entries(record).filter(([, value]) => holdsBytes(value));
  return found.length ? { withBytes: plainValue(Object.fromEntries(found), true) as Row['value'] } : {};
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

/** The rows of a Parquet file. Throws `tasks.parquet`. */
export async function parquetRows(name: string, bytes: Uint8Array): Promise<Rows> {
  try {
    const file = bytes.slice().buffer;
    const records = await parquetReadObjects({ file, compressors, utf8: false });
    const singles = singleColumns(file);
    const rowOf = (record: Record<string, unknown>): Row['value'] =>
      Object.fromEntries(
        Object.entries(plainValue(record) as Row['value']).map(([column, value]) => [
          column,
          singles.has(column) ? withSingles(value) : value,
        ]),
      );
    const rows: Row[] = records.map((record, i) => ({
      line: i + 1,
      value: rowOf(record),
      ...withBytes(record),
    }));
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
