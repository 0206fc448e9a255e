/** Applies migrations/ to the local D1 and records them as wrangler does, so that `wrangler d1 migrations apply --local` does not repeat them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Miniflare } from 'miniflare';

const LEDGER = onOneLine(`CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`);

/** A statement as `exec` takes it. No value in a migration has a line break. */
function onOneLine(statement: string): string {
  return statement.trim().replaceAll(/\s*\n\s*/g, ' ');
}

/** @returns the names of the migrations that were new */
export async function migrate(mf: Miniflare, worker: string, folder: string): Promise<string[]> {
  const db = await mf.getD1Database('DB', worker);
  await db.exec(LEDGER);
  const { results } = await db.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  const applied = new Set(results.map((row) => row.name));
  const due = readdirSync(folder)
    .filter((name) => name.endsWith('.sql') && !applied.has(name))
    .sort();
  const lines = due.flatMap((name) => [
    ...readFileSync(join(folder, name), 'utf8').split('--> statement-breakpoint').map(onOneLine),
    `INSERT INTO d1_migrations (name) VALUES ('${name}')`,
  ]);
  // All in one transaction. Of prepared statements each would be a call to workerd that this process waits for: half a second for a new folder.
  if (lines.length) await db.exec(lines.join('\n'));
  return due;
}
