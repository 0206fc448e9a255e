/** Applies migrations/ to the local D1 and records them as wrangler does, so that `wrangler d1 migrations apply --local` does not repeat them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Miniflare } from 'miniflare';

const LEDGER = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** @returns the names of the migrations that were new */
export async function migrate(mf: Miniflare, worker: string, folder: string): Promise<string[]> {
  const db = await mf.getD1Database('DB', worker);
  await db.prepare(LEDGER).run();
  const { results } = await db.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  const applied = new Set(results.map((row) => row.name));
  const due = readdirSync(folder)
    .filter((name) => name.endsWith('.sql') && !applied.has(name))
    .sort();
  for (const name of due) {
    const statements = readFileSync(join(folder, name), 'utf8').split('--> statement-breakpoint');
    await db.batch([
      ...statements.map((statement) => db.prepare(statement)),
      db.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name),
    ]);
  }
  return due;
}
