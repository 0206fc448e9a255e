/** Stops a run: its open round fails with the reason, and no further round begins until an order opens the run again. */
import { sql } from 'drizzle-orm';
import { type Database, writeAll } from './database.ts';

/**
 * Stops the run in one transaction that is safe to repeat. The target becomes the last round that was begun, so that a later order adds
 * exactly the rounds that it names.
 *
 * @returns false if there is no such run
 */
export async function stopRun(db: Database, run: string, reason: string, now: number): Promise<boolean> {
  const [stopped] = await writeAll(db, [
    sql`UPDATE runs SET state = 'stopped',
        target = min(target, (SELECT coalesce(max(idx), 0) FROM rounds WHERE run = ${run}))
      WHERE id = ${run}`,
    sql`UPDATE rounds SET state = 'failed', reason = ${`Stopped: ${reason}`}, ended_at = ${now}, touched_at = ${now}
      WHERE run = ${run} AND state IN ('proposing', 'rollout', 'training')`,
  ]);
  return stopped === 1;
}
