/** The rows of runs. A run is a chain of rounds with a target; its id is derived from its settings, so the same settings are the same run. */
import { and, asc, desc, eq, inArray, isNull, max, sql } from 'drizzle-orm';
import { aheadOf, nextRounds, type RunProgress, versionsBack } from '../../core/round/rounds-ahead.ts';
import { OPEN_ROUNDS, type StateOfRound } from '../../core/round/stages.ts';
import type { ChangeVerdict } from '../../core/schema/evaluation.ts';
import { type RoleBinding, type RoundSpec, type RunSettings, runIdOf } from '../../core/schema/round.ts';
import { type Database, openRounds, writeAll } from './database.ts';
import { resumeStatements } from './pause.ts';
import { deliveries, policies, rounds, runs } from './schema.ts';

export type RunRow = typeof runs.$inferSelect;

export const getRun = async (db: Database, id: string): Promise<RunRow | undefined> =>
  (await db.select().from(runs).where(eq(runs.id, id)))[0];

/** The runs that are not deleted, newest first. */
export const listRuns = (db: Database, limit: number): Promise<RunRow[]> =>
  db.select().from(runs).where(isNull(runs.deletedAt)).orderBy(desc(runs.createdAt)).limit(limit);

/** How far a run is: its rounds that ended well, and what its newest round and its evaluations say. */
export interface ListedProgress {
  readonly run: string;
  readonly done: number;
  /** The state of its newest round. */
  readonly roundState: StateOfRound;
  readonly touchedAt: number;
  readonly first: number | null;
  readonly last: number | null;
  /** What may be said of the change from the first to the last. */
  readonly verdict: ChangeVerdict | null;
}

/** The progress of runs that have a round, by the run's id. */
export async function progressOfRuns(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ListedProgress>> {
  const { results } = await db.$client
    .prepare(
      `WITH wanted AS (SELECT value AS run FROM json_each(?)),
       known AS (SELECT rounds.run, idx, state, touched_at, report FROM rounds JOIN wanted USING (run))
       SELECT run, sum(state = 'done') AS done, max(touched_at) AS touchedAt,
         (SELECT state FROM known AS k WHERE k.run = known.run ORDER BY idx DESC LIMIT 1) AS roundState,
         max(CASE WHEN idx = 1 THEN report->>'$.start.heldOut.accuracy' END) AS first,
         (SELECT k.report->>'$.evaluation.heldOut.accuracy' FROM known AS k
          WHERE k.run = known.run AND k.report->>'$.evaluation.heldOut.accuracy' IS NOT NULL
          ORDER BY idx DESC LIMIT 1) AS last,
         (SELECT k.report->>'$.evaluation.changes.accuracy.verdict' FROM known AS k
          WHERE k.run = known.run AND k.report->>'$.evaluation.heldOut.accuracy' IS NOT NULL
          ORDER BY idx DESC LIMIT 1) AS verdict
       FROM known GROUP BY run`,
    )
    .bind(JSON.stringify(ids))
    .all<ListedProgress>();
  return new Map(results.map((row) => [row.run, row]));
}

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
  const isNew = sql`NOT EXISTS (SELECT 1 FROM deliveries WHERE id = ${delivery})`;
  const [, , written] = await writeAll(db, [
    ...resumeStatements(id, now, isNew),
    sql`INSERT INTO runs (id, settings, roles, target, state, created_at)
        SELECT ${id}, ${JSON.stringify(settings)}, ${JSON.stringify(roles)}, ${order.rounds}, 'open', ${now}
        WHERE ${isNew}
        ON CONFLICT (id) DO UPDATE SET target = target + ${order.rounds}, state = 'open', agents_told_at = NULL WHERE deleted_at IS NULL`,
    db.insert(deliveries).values({ id: delivery, at: now }).onConflictDoNothing(),
  ]);
  return written !== 0;
}

/** How long after a note that agents were told another one is not worth a write, ms. */
const NOTED_MS = 500;

/** Notes that an agent is told that the run is over. */
export const noteAgentTold = (db: Database, run: string, now: number) =>
  writeAll(db, [
    sql`UPDATE runs SET agents_told_at = ${now}
        WHERE id = ${run} AND coalesce(agents_told_at, 0) < ${now - NOTED_MS}`,
  ]);

export const forgetDeliveries = (db: Database, before: number) =>
  writeAll(db, [sql`DELETE FROM deliveries WHERE at < ${before}`]);

/**
 * Inserts a round if it follows the last one of its run, no more rounds of the run are open than it may be ahead, and none of the
 * round's versions was pruned. It is safe to repeat. A round that names a withdrawn version is inserted, and fails with that reason.
 */
export const insertRound = (spec: RoundSpec, now: number) =>
  sql`INSERT INTO rounds (id, run, idx, spec, state, created_at, touched_at)
    SELECT ${spec.id}, ${spec.run}, ${spec.index}, ${JSON.stringify(spec)}, 'proposing', ${now}, ${now}
    WHERE (SELECT count(*) FROM rounds
      WHERE run = ${spec.run} AND state IN ${openRounds}) <= ${aheadOf(spec.settings)}
    AND (SELECT coalesce(max(idx), 0) + 1 FROM rounds WHERE run = ${spec.run}) = ${spec.index}
    AND NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(spec.roles)}) AS role
      JOIN versions ON policy = role.value->>'name' AND version = role.value->>'version'
      WHERE pruned_at IS NOT NULL AND withdrawn IS NULL)
    ON CONFLICT DO NOTHING`;

/** The index of the last round of a run that has begun; 0 before the first. */
export async function lastRoundOf(db: Database, run: string): Promise<number> {
  const [last] = await db
    .select({ index: max(rounds.index) })
    .from(rounds)
    .where(eq(rounds.run, run));
  return last?.index ?? 0;
}

/** The rounds of a run that have begun and not ended, in order. */
export const openRoundsOf = async (db: Database, run: string): Promise<RoundSpec[]> =>
  (
    await db
      .select({ spec: rounds.spec })
      .from(rounds)
      .where(and(eq(rounds.run, run), inArray(rounds.state, [...OPEN_ROUNDS])))
      .orderBy(asc(rounds.index))
  ).map(({ spec }) => spec);

/** A round that is about to end with a version that is not stored yet. */
interface Ending {
  readonly round: string;
  readonly version: number;
  readonly parent: number;
}

/** The rounds that are due at the policy's version `current`, or once `current` has ended. */
export async function dueRounds(db: Database, run: RunRow, current: number | Ending): Promise<RoundSpec[]> {
  if (run.state !== 'open') return [];
  const [last, open] = await Promise.all([lastRoundOf(db, run.id), openRoundsOf(db, run.id)]);
  const progress: RunProgress = {
    ...run,
    last,
    open: open.filter(({ id }) => typeof current === 'number' || id !== current.round).length,
  };
  const back = versionsBack(progress);
  if (typeof current === 'number') return nextRounds(progress, await chainOf(db, run, current, back));
  const { version, parent } = current;
  const before = back > 0 ? await chainOf(db, run, parent, back - 1) : [];
  return nextRounds(progress, [version, ...before]);
}

/**
 * A version and up to `back` of its ancestors, as far as this run made their children: the version that the run began from is the last.
 * The walk also ends at a version whose files retention removed.
 */
async function chainOf(db: Database, run: RunRow, current: number, back: number): Promise<number[]> {
  if (back === 0) return [current];
  const { policy } = run.settings;
  const rows = await db.all<{ version: number }>(sql`
    WITH RECURSIVE chain(version, place) AS (
      SELECT ${current}, 0
      UNION ALL
      SELECT parents.version, place + 1 FROM chain
        JOIN versions AS own ON own.policy = ${policy} AND own.version = chain.version
        JOIN rounds ON rounds.id = own.round AND rounds.run = ${run.id}
        JOIN versions AS parents ON parents.policy = ${policy} AND parents.version = own.parent
        WHERE place < ${back} AND parents.pruned_at IS NULL
    )
    SELECT version FROM chain ORDER BY place`);
  return rows.map(({ version }) => version);
}

/**
 * Begins the rounds of a run that are due.
 * @returns the rounds that are open now, in order, be they new or not. A due round is missing where a version that it names has just been pruned
 */
export async function advanceRun(db: Database, id: string, now: number): Promise<RoundSpec[]> {
  const run = await getRun(db, id);
  if (!run) return [];
  const [policy] = await db.select().from(policies).where(eq(policies.name, run.settings.policy));
  const due = policy ? await dueRounds(db, run, policy.current) : [];
  if (due.length)
    await writeAll(
      db,
      due.map((spec) => insertRound(spec, now)),
    );
  return openRoundsOf(db, id);
}

/** Runs that have rounds left to do and fewer open than they may have, because the chain broke between two rounds. */
export const stuckRuns = (db: Database, limit: number) =>
  db
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(
        eq(runs.state, 'open'),
        sql`${runs.target} > (SELECT coalesce(max(idx), 0) FROM rounds WHERE run = ${runs.id})`,
        sql`(SELECT count(*) FROM rounds WHERE run = ${runs.id} AND state IN ${openRounds})
          <= coalesce(${runs.settings}->>'ahead', 0)`,
      ),
    )
    .limit(limit);
