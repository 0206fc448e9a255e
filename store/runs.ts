/** Runs: chains of rounds with a target. A run's id is derived from its settings, so the same settings are the same run. */
import { and, desc, eq, inArray, notExists, sql } from 'drizzle-orm';
import {
  type RoleBinding,
  type RoundSpec,
  type RunSettings,
  roundOf,
  runIdOf,
} from '../core/schema/round.ts';
import { OPEN_ROUNDS } from '../core/stages.ts';
import { type Database, openRounds, writeAll } from './database.ts';
import { deliveries, policies, rounds, runs } from './schema.ts';

export type RunRow = typeof runs.$inferSelect;

export const getRun = async (db: Database, id: string): Promise<RunRow | undefined> =>
  (await db.select().from(runs).where(eq(runs.id, id)))[0];

export const listRuns = (db: Database, limit: number): Promise<RunRow[]> =>
  db.select().from(runs).orderBy(desc(runs.createdAt)).limit(limit);

/**
 * Creates the run or extends its target, and takes note of the delivery, all or nothing.
 * @returns false where the delivery was seen before: nothing has changed then.
 */
export async function orderRounds(
  db: Database,
  order: {
    readonly delivery: string;
    readonly settings: RunSettings;
    readonly roles: Readonly<Record<string, RoleBinding>>;
    readonly rounds: number;
    readonly now: number;
  },
): Promise<boolean> {
  const { delivery, settings, roles, now } = order;
  const id = runIdOf(settings);
  // The run is written first and only if the delivery is new; then the delivery. One transaction, so no retry of it is lost.
  const [written] = await writeAll(db, [
    sql`INSERT INTO runs (id, settings, roles, target, state, created_at)
        SELECT ${id}, ${JSON.stringify(settings)}, ${JSON.stringify(roles)}, ${order.rounds}, 'open', ${now}
        WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE id = ${delivery})
        ON CONFLICT (id) DO UPDATE SET target = target + ${order.rounds}, state = 'open'`,
    db.insert(deliveries).values({ id: delivery, at: now }).onConflictDoNothing(),
  ]);
  return written !== 0;
}

export const forgetDeliveries = (db: Database, before: number) =>
  writeAll(db, [sql`DELETE FROM deliveries WHERE at < ${before}`]);

/**
 * Inserts a round where none of its run is open and retention has taken none of its versions; doing it twice changes nothing. One that
 * names a withdrawn version is inserted, and fails with that reason.
 */
export const insertRound = (spec: RoundSpec, now: number) =>
  sql`INSERT INTO rounds (id, run, idx, spec, stage, created_at, touched_at)
    SELECT ${spec.id}, ${spec.run}, ${spec.index}, ${JSON.stringify(spec)}, 'proposing', ${now}, ${now}
    WHERE NOT EXISTS (SELECT 1 FROM rounds
      WHERE run = ${spec.run} AND stage IN ${openRounds})
    AND NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(spec.roles)}) AS role
      JOIN versions ON policy = role.value->>'name' AND version = role.value->>'version'
      WHERE pruned_at IS NOT NULL AND withdrawn IS NULL)
    ON CONFLICT DO NOTHING`;

/** The round that comes next at `version`; null where the target is reached or the run has stopped. */
export function nextRound(run: RunRow, lastIndex: number, version: number): RoundSpec | null {
  if (run.state !== 'open' || lastIndex >= run.target) return null;
  return roundOf(run.settings, run.roles, lastIndex + 1, version);
}

/**
 * Creates the next round of a run if one is due and none is open.
 * @returns the round that is open now: the new one, or the one that was; null where nothing is due, or its version has just gone.
 */
export async function advanceRun(db: Database, id: string, now: number): Promise<RoundSpec | null> {
  const run = await getRun(db, id);
  if (!run) return null;
  const [[last], [policy]] = await db.batch([
    db.select().from(rounds).where(eq(rounds.run, id)).orderBy(desc(rounds.index)).limit(1),
    db.select().from(policies).where(eq(policies.name, run.settings.policy)),
  ]);
  if (last && OPEN_ROUNDS.some((stage) => stage === last.stage)) return last.spec;
  const next = policy ? nextRound(run, last?.index ?? 0, policy.current) : null;
  if (!next) return null;
  const [inserted] = await writeAll(db, [insertRound(next, now)]);
  // Another caller's, or refused: retention took a version since the pointer was read. The clock tries again.
  return inserted === 1 || (await isOpen(db, next.id)) ? next : null;
}

const isOpen = async (db: Database, id: string): Promise<boolean> => {
  const [row] = await db.select({ stage: rounds.stage }).from(rounds).where(eq(rounds.id, id));
  return OPEN_ROUNDS.some((stage) => stage === row?.stage);
};

/** Runs that have rounds to do and none open: the chain broke between two of them. */
export const stuckRuns = (db: Database, limit: number) =>
  db
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(
        eq(runs.state, 'open'),
        sql`${runs.target} > (SELECT coalesce(max(idx), 0) FROM rounds WHERE run = ${runs.id})`,
        notExists(
          db
            .select()
            .from(rounds)
            .where(and(eq(rounds.run, runs.id), inArray(rounds.stage, [...OPEN_ROUNDS]))),
        ),
      ),
    )
    .limit(limit);
