/** A row of a file, as each kind of file is read into. */

export interface Row {
  /** Line of a JSONL or CSV file where the row begins, row of a Parquet file; both from 1. */
  readonly line: number;
  readonly value: Readonly<Record<string, unknown>>;
  /** Of a CSV file: the cells that were read as JSON, as they stand. A question and an answer are texts, brackets or not. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Of a Parquet file: the columns that hold bytes which are no text, with them. `value` is without them. */
  readonly withBytes?: Readonly<Record<string, unknown>>;
}

/** What is wrong at a place of a file. */
export interface Fault {
  readonly line: number;
  readonly what: string;
}

export interface Rows {
  readonly rows: readonly Row[];
  readonly faults: readonly Fault[];
}

/** A field by its name; one whose name has dots may be inside others, as in `answer.value`. */
export function fieldAt(row: Row['value'], name: string): unknown {
  if (Object.hasOwn(row, name)) return row[name];
  let value: unknown = row;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return value;
}

/** What is wrong with a row that holds a number beyond the largest double. */
export const ENDLESS = 'it holds a number beyond 1.8e308; write it as text';
