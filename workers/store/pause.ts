/** Runs that were interrupted: a local mesh that starts plays nothing of them until somebody asks for it. */
import { type SQL, sql } from 'drizzle-orm';
import { type Database, openRounds, writeAll } from './database.ts';

/** Is the run of this id paused? A condition. */
export const isPaused = (run: SQL): SQL =>
  sql`EXISTS (SELECT 1 FROM runs WHERE runs.id = ${run} AND runs.state = 'paused')`;

/** The same of the run of a round. */
export const isPausedRound = (round: SQL): SQL =>
  sql`EXISTS (SELECT 1 FROM rounds JOIN runs ON runs.id = rounds.run WHERE rounds.id = ${round} AND runs.state = 'paused')`;

/** Those of the rounds whose runs are paused. */
export async function pausedAmong(db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (!ids.length) return new Set();
  const rows = await db.all<{ id: string }>(
    sql`SELECT value AS id FROM json_each(${JSON.stringify([...new Set(ids)])}) WHERE ${isPausedRound(sql`value`)}`,
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Statements that open a paused run again; they change no other run. The time of its open rounds goes on where it was interrupted. `provided`: a
 * condition.
 */
export const resumeStatements = (run: string, now: number, provided: SQL = sql`true`) => {
  const pause = sql`max(0, ${now} - touched_at)`;
  return [
    sql`UPDATE rounds SET created_at = created_at + ${pause}, rollout_at = rollout_at + ${pause}, training_at = training_at + ${pause}
      WHERE run = ${run} AND state IN ${openRounds} AND ${isPaused(sql`${run}`)} AND ${provided}`,
    sql`UPDATE runs SET state = 'open' WHERE id = ${run} AND state = 'paused' AND ${provided}`,
  ] as const;
};

/** @returns false where the run is not paused */
export async function resumeRun(db: Database, run: string, now: number): Promise<boolean> {
  const [, resumed] = await writeAll(db, resumeStatements(run, now));
  return resumed === 1;
}
