/** Writes rows as JSON lines or as Parquet. */
import { writeFileSync } from 'node:fs';

export const FORMATS = ['jsonl', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

/** A column holds texts, numbers or booleans as such, and lists and objects as JSON. */
function columnOf(name: string, data: readonly unknown[]) {
  const known = data.filter((value) => value !== null && value !== undefined);
  const all = (type: string) => known.every((value) => typeof value === type);
  const values = data.map((value) => value ?? null);
  if (known.length && all('string')) return { name, data: values, type: 'STRING' as const };
  if (known.length && all('boolean')) return { name, data: values, type: 'BOOLEAN' as const };
  if (known.length && known.every(Number.isSafeInteger))
    return {
      name,
      data: values.map((value) => (value === null ? null : BigInt(value as number))),
      type: 'INT64' as const,
    };
  if (known.length && all('number')) return { name, data: values, type: 'DOUBLE' as const };
  return { name, data: values, type: 'JSON' as const };
}

export async function writeRows(path: string, format: Format, rows: readonly object[]): Promise<void> {
  if (format === 'jsonl') {
    writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return;
  }
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columnData = names.map((name) =>
    columnOf(
      name,
      rows.map((row) => (row as Readonly<Record<string, unknown>>)[name]),
    ),
  );
  writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData })));
}
