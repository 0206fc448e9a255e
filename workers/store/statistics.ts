/** The figures of the whole mesh for /metrics, each read by one grouped query. The learner's figures are read from the rounds' reports. */
import { desc, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { USAGE_FIELDS, type Usage } from '../../core/cost/usage.ts';
import { type Database, openRounds } from './database.ts';
import { deadLetters, groups, policies, rounds, usage, versions } from './schema.ts';

const n = sql<number>`count(*)`;

const usageSums = Object.fromEntries(
  USAGE_FIELDS.map((field) => [field, sql<number>`sum(${usage[field]})`]),
) as Record<keyof Usage, SQL<number>>;

/** How many runs /metrics shows the learning of: those that made progress last. */
const SHOWN_RUNS = 20;

/** The newest round of each of those runs whose report has this part. */
const newestWith = (db: Database, part: 'training' | 'evaluation') =>
  db
    .select()
    .from(rounds)
    .where(
      sql`(${rounds.run}, ${rounds.index}) IN (SELECT run, max(idx) FROM rounds
        WHERE report->${`$.${part}`} IS NOT NULL GROUP BY run ORDER BY max(touched_at) DESC LIMIT ${SHOWN_RUNS})`,
    );

export async function meshStatistics(db: Database) {
  const [
    roundsByState,
    groupsByState,
    byFailure,
    letters,
    pointers,
    oldest,
    [last],
    [totals],
    [stored],
    used,
    trained,
    evaluated,
  ] = await db.batch([
    db.select({ state: rounds.state, n }).from(rounds).groupBy(rounds.state),
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
      .select({ state: rounds.state, touchedAt: sql<number>`min(touched_at)` })
      .from(rounds)
      .where(sql`state IN ${openRounds}`)
      .groupBy(rounds.state),
    db.select().from(rounds).where(isNotNull(rounds.endedAt)).orderBy(desc(rounds.endedAt)).limit(1),
    db
      .select({
        proposed: sql<number>`coalesce(sum(proposed), 0)`,
        admitted: sql<number>`coalesce(sum(expected), 0)`,
        generated: sql<number>`coalesce(sum(report->>'$.monitors.tokens'), 0)`,
        trained: sql<number>`coalesce(sum(report->>'$.training.tokens'), 0)`,
      })
      .from(rounds),
    db.select({ bytes: sql<number>`coalesce(sum(bytes), 0)` }).from(versions),
    db
      .select({ stage: usage.stage, ...usageSums })
      .from(usage)
      .groupBy(usage.stage),
    newestWith(db, 'training'),
    newestWith(db, 'evaluation'),
  ]);
  return {
    roundsByState,
    groupsByState,
    byFailure,
    letters,
    pointers,
    oldest,
    last,
    totals: totals!,
    stored: stored!.bytes,
    used,
    trained,
    evaluated,
  };
}
export type MeshStatistics = Awaited<ReturnType<typeof meshStatistics>>;
