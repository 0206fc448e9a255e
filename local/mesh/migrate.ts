/** Applies migrations/ to the local D1 and records them as wrangler does, so that `wrangler d1 migrations apply --local` does not repeat them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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

/** @returns the names of the migrations that were new */
export async function migrate(db: Statements, folder: string): Promise<string[]> {
  await db.exec(LEDGER);
  const applied = new Set((await db.all('SELECT name FROM d1_migrations')).map(({ name }) => name));
  const due = readdirSync(folder)
    .filter((name) => name.endsWith('.sql') && !applied.has(name))
    .sort();
  const lines = due.flatMap((name) => [
    ...readFileSync(join(folder, name), 'utf8').split('--> statement-breakpoint').map(onOneLine),
    `INSERT INTO d1_migrations (name) VALUES ('${name}')`,
  ]);
  // All in one transaction.
  if (lines.length) await db.exec(lines.join('\n'));
  return due;
}
