/** Moves a policy's pointer back to an earlier version. Later versions are withdrawn for good, and open rounds that name one of them fail. */
import { sql } from 'drizzle-orm';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { type Database, openRounds, writeAll } from './database.ts';

/** @returns false if the version does not exist, is withdrawn itself, or was pruned */
export async function rollBack(
  db: Database,
  { name, version }: PolicyRef,
  reason: string,
  now: number,
): Promise<boolean> {
  const usable = sql`EXISTS (SELECT 1 FROM versions
    WHERE policy = ${name} AND version = ${version} AND withdrawn IS NULL AND pruned_at IS NULL)`;
  const why = `Rolled back to version ${version}: ${reason}`;
  const [moved] = await writeAll(db, [
    sql`UPDATE policies SET current = ${version}, updated_at = ${now} WHERE name = ${name} AND ${usable}`,
    sql`UPDATE versions SET withdrawn = ${why}, withdrawn_at = ${now}
        WHERE policy = ${name} AND version > ${version} AND withdrawn IS NULL AND ${usable}`,
    sql`UPDATE rounds SET state = 'failed', reason = ${why}, ended_at = ${now}, touched_at = ${now}
        WHERE state IN ${openRounds} AND ${usable}
          AND EXISTS (SELECT 1 FROM json_each(spec, '$.roles') AS role
            WHERE role.value->>'name' = ${name} AND role.value->>'version' > ${version})`,
    sql`UPDATE runs SET state = 'stopped' WHERE state IN ('open', 'paused')
        AND id IN (SELECT run FROM rounds WHERE state = 'failed' AND reason = ${why} AND ended_at = ${now})`,
  ]);
  return moved === 1;
}
