/** Opens D1 through drizzle and retries writes when D1 fails for a moment: D1 retries reads by itself, but never writes. */
import type { D1Database } from '@cloudflare/workers-types';

import { type SQL, sql } from 'drizzle-orm';
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { OPEN_ROUNDS } from '../../core/round/stages.ts';
import * as schema from './schema.ts';

export type Database = DrizzleD1Database<typeof schema> & { readonly $client: D1Database };

export const openDatabase = (d1: D1Database): Database => drizzle(d1, { schema });

const TRANSIENT =
  /overloaded|reset because|connection lost|storage operation exceeded timeout|internal error|cannot resolve d1|replica/i;

/** The messages of an error and of its causes in one text, because drizzle wraps the errors of D1. */
export const causesOf = (error: unknown): string => {
  const texts: string[] = [];
  for (let at: unknown = error; at instanceof Error && texts.length < 5; at = at.cause)
    texts.push(at.message);
  return texts.join(': ');
};

/** Runs an idempotent write up to four times, with back-off, as long as it fails with an error that passes (D1 is overloaded, was reset, …). */
async function retryingWrite<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (attempt === 3 || !TRANSIENT.test(causesOf(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50 * 4 ** attempt));
    }
  }
}

/** The list of the states in which a round still has something to do, as SQL. */
export const openRounds = sql.raw(`(${OPEN_ROUNDS.map((state) => `'${state}'`).join(', ')})`);

/** A statement made by drizzle's builder, or one written as `sql`. */
export type Statement = SQL | { toSQL(): { sql: string; params: unknown[] } };

const dialect = new SQLiteSyncDialect();

const compiled = (statement: Statement) =>
  'toSQL' in statement ? statement.toSQL() : dialect.sqlToQuery(statement);

/**
 * Runs statements as one transaction, all or nothing. It is retried when D1 is overloaded, so every statement must be safe to repeat.
 * Drizzle's own `batch` is not used because it loses the parameters of statements written as `sql`.
 * @returns what each statement gave: the rows of RETURNING or SELECT, and how many rows changed
 */
export const runAll = (db: Database, statements: readonly Statement[]) =>
  retryingWrite(() => runOnce(db, statements));

/** Runs statements as `runAll` does, and does not retry them. */
export const runOnce = (db: Database, statements: readonly Statement[]) =>
  db.$client.batch(
    statements.map((statement) => {
      const { sql: text, params } = compiled(statement);
      return db.$client.prepare(text).bind(...params);
    }),
  );

/** Runs statements as `runAll` does. @returns the number of rows changed, by statement */
export const writeAll = async (db: Database, statements: readonly Statement[]): Promise<number[]> =>
  (await runAll(db, statements)).map((result) => result.meta.changes);
