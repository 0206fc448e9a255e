/** The rows of a CSV file. */
import { CsvError, parse } from 'csv-parse/sync';
import { wrongInput } from '../../core/errors.ts';
import { isEndless, isShallow } from '../../core/text/nesting.ts';
import type { Rows } from './row.ts';

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

/** The rows of a CSV file. Throws `tasks.csv`. */
export function csvRows(name: string, text: string): Rows {
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
