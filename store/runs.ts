/** The rows of runs. A run is a chain of rounds with a target; its id is derived from its settings, so the same settings are the same run. */
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
 * Creates the run or extends its target, and records the webhook delivery, all or nothing.
 * @returns false if the delivery was seen before; then nothing has changed
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
  // The run is written first, and only if the delivery is new; then the delivery. Both are one transaction, so a retried delivery is never lost.
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
 * Inserts a round if its run has no open round and none of the round's versions was pruned. It is safe to repeat. A round that names a
 * withdrawn version is inserted, and fails with that reason.
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

/** The round that comes next, at `version`; null if the target is reached or the run has stopped. */
export function nextRound(run: RunRow, lastIndex: number, version: number): RoundSpec | null {
  if (run.state !== 'open' || lastIndex >= run.target) return null;
  return roundOf(run.settings, run.roles, lastIndex + 1, version);
}

/**
 * Creates the next round of a run if one is due and none is open.
 * @returns the round that is open now, be it new or not; null if no round is due, or if a version that it names has just been pruned
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
  // If nothing was inserted, another caller did it, or a version was pruned since the pointer was read; then the clock tries again.
  return inserted === 1 || (await isOpen(db, next.id)) ? next : null;
}

const isOpen = async (db: Database, id: string): Promise<boolean> => {
  const [row] = await db.select({ stage: rounds.stage }).from(rounds).where(eq(rounds.id, id));
  return OPEN_ROUNDS.some((stage) => stage === row?.stage);
};

/** Runs that have rounds left to do but no open round, because the chain broke between two rounds. */
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
