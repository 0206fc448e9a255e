/** Applies migrations/ to the local D1 and records them as wrangler does, so that `wrangler d1 migrations apply --local` does not repeat them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wrongInput } from '../../core/errors.ts';

const LEDGER = onOneLine(`CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`);

/** A statement as `exec` takes it. No value in a migration has a line break. */
function onOneLine(statement: string): string {
  return statement.trim().replaceAll(/\s*\n\s*/g, ' ');
}

/** The database, as far as migrations use it. */
export interface Statements {
  /** Runs statements, one a line. */
  readonly exec: (sql: string) => Promise<unknown>;
  /** The rows of a statement that gives names. */
  readonly all: (sql: string) => Promise<readonly { readonly name: string }[]>;
}

/**
 * @returns the names of the migrations that were new
 * @throws RollmeshError `state.release`, before anything is written, where the database has a migration that this installation does not know
 */
export async function migrate(db: Statements, folder: string): Promise<string[]> {
  await db.exec(LEDGER);
  const known = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const applied = (await db.all('SELECT name FROM d1_migrations')).map(({ name }) => name);
  const foreign = applied.find((name) => !known.includes(name));
  if (foreign !== undefined)
    throw wrongInput(
      'state.release',
      `Another release wrote this database: it has the migration ${foreign}.`,
      {
        expected: `a database with the migrations of this release, the last of which is ${known.sort().at(-1)}`,
        next: 'Use the release that wrote it, or begin anew: `npx rollmesh start --fresh`.',
      },
    );
  const due = known.filter((name) => !applied.includes(name)).sort();
  const lines = due.flatMap((name) => [
    ...readFileSync(join(folder, name), 'utf8').split('--> statement-breakpoint').map(onOneLine),
    `INSERT INTO d1_migrations (name) VALUES ('${name}')`,
  ]);
  // All in one transaction.
  if (lines.length) await db.exec(lines.join('\n'));
  return due;
}
