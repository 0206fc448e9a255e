/** Figures of the whole mesh for /metrics, each by one grouped query. */
import { desc, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Database } from './database.ts';
import { deadLetters, groups, policies, rounds } from './schema.ts';

const n = sql<number>`count(*)`;

export async function meshStatistics(db: Database) {
  const [byStage, byState, byFailure, letters, pointers, oldest, [last]] = await db.batch([
    db.select({ stage: rounds.stage, n }).from(rounds).groupBy(rounds.stage),
    db.select({ state: groups.state, n }).from(groups).groupBy(groups.state),
    db
      .select({ kind: sql<string>`failure->>'kind'`, n })
      .from(groups)
      .where(isNotNull(groups.failure))
      .groupBy(sql`failure->>'kind'`),
    db
      .select({ queue: deadLetters.queue, n })
      .from(deadLetters)
      .where(isNull(deadLetters.replayedAt))
      .groupBy(deadLetters.queue),
    db.select({ policy: policies.name, version: policies.current }).from(policies).limit(1000),
    db
      .select({ stage: rounds.stage, touchedAt: sql<number>`min(touched_at)` })
      .from(rounds)
      .where(sql`stage IN ('proposing', 'solving', 'training')`)
      .groupBy(rounds.stage),
    db.select().from(rounds).where(isNotNull(rounds.endedAt)).orderBy(desc(rounds.endedAt)).limit(1),
  ]);
  return { byStage, byState, byFailure, letters, pointers, oldest, last };
}
export type MeshStatistics = Awaited<ReturnType<typeof meshStatistics>>;
