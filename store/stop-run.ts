/** Stopping a run: its open round ends with the reason, and no further one is begun until an order opens the run again. */
import { sql } from 'drizzle-orm';
import { type Database, writeAll } from './database.ts';

/**
 * All or nothing, and safe to repeat. The target becomes the last round that was begun, so that a later order adds exactly the rounds
 * that it names.
 *
 * @returns false where there is no such run
 */
export async function stopRun(db: Database, run: string, reason: string, now: number): Promise<boolean> {
  const [stopped] = await writeAll(db, [
    sql`UPDATE runs SET state = 'stopped',
        target = min(target, (SELECT coalesce(max(idx), 0) FROM rounds WHERE run = ${run}))
      WHERE id = ${run}`,
    sql`UPDATE rounds SET stage = 'failed', reason = ${`Stopped: ${reason}`}, ended_at = ${now}, touched_at = ${now}
      WHERE run = ${run} AND stage IN ('proposing', 'rollout', 'training')`,
  ]);
  return stopped === 1;
}
