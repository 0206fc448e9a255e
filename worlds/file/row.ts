/** A row of a file, as each kind of file is read into. */

export interface Row {
  /** Line of a JSONL or CSV file where the row begins, row of a Parquet file; both from 1. */
  readonly line: number;
  readonly value: Readonly<Record<string, unknown>>;
  /** Of a CSV file: the cells that were read as JSON, as they stand. A question and an answer are texts, brackets or not. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Of a Parquet file: the files of images that a column holds. `value` does not have them. */
  readonly images?: Readonly<Record<string, readonly Uint8Array[]>>;
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

/** Is it an object, and no array? */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with a row that holds a number beyond the largest double. */
export const ENDLESS = 'it holds a number beyond 1.8e308; write it as text';
