/** Records as files: what a run measured is written by figure, a list over its evaluations or rounds each, which is half as long as rows. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Run } from '../rule/claim.ts';
import type { Played } from './record.ts';

type Value = number | null;
type Columns = Readonly<Record<string, readonly Value[]>>;
type Row = Readonly<Record<string, unknown>>;

/** The runs of a record's arms as a file has them. */
interface Stored extends Omit<Run, 'heldout' | 'monitors'> {
  readonly heldout: Columns;
  readonly figures: Columns;
  readonly monitors: Columns;
}

/** What a row lacks is null in its column: neither is a measurement. */
function columnsOf(rows: readonly Row[]): Columns {
  const names = [...new Set(rows.flatMap(Object.keys))];
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => (row[name] as Value) ?? null)]));
}

const rowOf = (columns: Columns, at: number): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, values]) => {
      const value = values[at];
      return typeof value === 'number' ? [[name, value]] : [];
    }),
  );

const stored = ({ heldout, monitors = [], ...run }: Run): Stored => ({
  ...run,
  heldout: columnsOf(heldout.map(({ figures: _, ...own }) => own)),
  figures: columnsOf(heldout.map(({ figures = {} }) => figures)),
  monitors: columnsOf(monitors.map(({ figures }) => figures)),
});

/** Monitors are those of rounds 1, 2, …. */
const opened = ({ heldout, figures, monitors, ...run }: Stored): Run => ({
  ...run,
  heldout: heldout.round!.map((_, at) => {
    const own = rowOf(heldout, at) as unknown as Run['heldout'][number];
    return { ...own, figures: rowOf(figures, at) };
  }),
  monitors: (Object.values(monitors)[0] ?? []).map((_, at) => ({
    round: at + 1,
    figures: rowOf(monitors, at),
  })),
});

type WithArms = Pick<Played, 'arms'>;

/** The same record with its runs in another form. */
const withRuns = <From, To>(record: object, change: (run: From) => To): object => {
  const { arms } = record as { arms: readonly { readonly runs: readonly From[] }[] };
  return { ...record, arms: arms.map((arm) => ({ ...arm, runs: arm.runs.map(change) })) };
};

/** The record as its file gives it back. */
export const asRead = <R extends WithArms>(record: R): R => withRuns(withRuns(record, stored), opened) as R;

export const readRecordFile = async <R extends WithArms>(file: string): Promise<R> =>
  withRuns(JSON.parse(await readFile(file, 'utf8')) as object, opened) as R;

export async function writeRecordFile(file: string, record: WithArms): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(withRuns(record, stored))}\n`);
}
