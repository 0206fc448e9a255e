/** The rows of rounds. A round moves through its stages by compare-and-set, so of any number of callers exactly one moves it. */
import { and, asc, desc, eq, gt, inArray, isNull, lt, not, or, sql } from 'drizzle-orm';
import { OPEN_ROUNDS, type StateOfRound } from '../../core/round/stages.ts';
import type { RoundReport } from '../../core/schema/report.ts';
import type { AdmittedTask } from '../../core/schema/sample.ts';
import { type Database, type Statement, writeAll } from './database.ts';
import { isPaused } from './pause.ts';
import { rounds } from './schema.ts';

/** How much the clocks of different machines may differ, in ms. */
const CLOCK_SKEW_MS = 60_000;
/** An evaluation arrives at most so many rounds late. */
const MARKED_ROUNDS = 8;

export type RoundRow = typeof rounds.$inferSelect;

export const getRound = async (db: Database, id: string): Promise<RoundRow | undefined> =>
  (await db.select().from(rounds).where(eq(rounds.id, id)))[0];

/** Lists rounds, newest first. For the next page, `before` leaves out rounds of that index and later ones. */
export const listRounds = (
  db: Database,
  {
    run,
    before,
    open = false,
    limit,
  }: {
    readonly run?: string | undefined;
    readonly before?: number | undefined;
    /** Only rounds that have not ended. */
    readonly open?: boolean | undefined;
    readonly limit: number;
  },
): Promise<RoundRow[]> =>
  db
    .select()
    .from(rounds)
    .where(
      and(
        run === undefined ? undefined : eq(rounds.run, run),
        before === undefined ? undefined : lt(rounds.index, before),
        open ? inArray(rounds.state, [...OPEN_ROUNDS]) : undefined,
      ),
    )
    .orderBy(desc(rounds.createdAt), desc(rounds.index))
    .limit(limit);

export const openBefore = (db: Database, { run, index }: Pick<RoundRow, 'run' | 'index'>) =>
  db
    .select({ id: rounds.id })
    .from(rounds)
    .where(and(eq(rounds.run, run), lt(rounds.index, index), inArray(rounds.state, [...OPEN_ROUNDS])))
    .orderBy(asc(rounds.index))
    .limit(1);

/** The first earlier round of the same run that has not ended, which must be trained before this one; null if there is none. */
export const roundBefore = async (db: Database, row: RoundRow): Promise<string | null> =>
  (await openBefore(db, row))[0]?.id ?? null;

/** Stops the run of a round that failed: its later rounds that are open go on. The next webhook opens the run again. */
const stopRunOfFailed = (id: string) =>
  sql`UPDATE runs SET state = 'stopped'
    WHERE id = (SELECT run FROM rounds WHERE id = ${id} AND state = 'failed') AND state = 'open'`;

export async function failRound(
  db: Database,
  id: string,
  from: readonly StateOfRound[],
  reason: string,
  now: number,
  /** Only at this attempt. */
  attempt?: number,
): Promise<void> {
  await writeAll(db, [
    db
      .update(rounds)
      .set({ state: 'failed', reason, endedAt: now, touchedAt: now })
      .where(
        and(
          eq(rounds.id, id),
          inArray(rounds.state, [...from]),
          attempt === undefined ? undefined : eq(rounds.attempt, attempt),
        ),
      ),
    stopRunOfFailed(id),
  ]);
}

/**
 * Moves a round from proposing to rollout and inserts one row for each group. One JSON parameter carries all tasks, since D1
 * takes 100 parameters a statement. A second call finds the state moved and changes nothing, and so does one of an earlier attempt.
 */
export async function admitTasks(
  db: Database,
  round: string,
  tasks: readonly AdmittedTask[],
  proposed: number,
  now: number,
  proposalsSha256: string | null = null,
  attempt = 0,
): Promise<void> {
  await writeAll(db, [
    sql`INSERT INTO groups (round, id, idx, task, proposal, state)
        SELECT ${round}, value->>'group', value->>'index', value->>'task', value->>'proposal', 'rollout'
        FROM json_each(${JSON.stringify(tasks)})
        WHERE EXISTS (SELECT 1 FROM rounds WHERE id = ${round} AND state = 'proposing' AND attempt = ${attempt})
        ON CONFLICT DO NOTHING`,
    db
      .update(rounds)
      .set({
        state: 'rollout',
        expected: tasks.length,
        proposed,
        proposalsSha256,
        rolloutAt: now,
        touchedAt: now,
        redrives: 0,
      })
      .where(and(eq(rounds.id, round), eq(rounds.state, 'proposing'), eq(rounds.attempt, attempt))),
  ]);
}

/**
 * Statements that move a round on once none of its groups is in rollout any more: from rollout to training if there are scored
 * groups, or to failed if there are none. Append them to every batch that changes groups.
 */
export const settleRound = (id: string, now: number) => {
  const why = sql`coalesce(': ' || (SELECT failure->>'message' FROM groups
    WHERE round = ${id} AND state = 'failed' AND failure IS NOT NULL ORDER BY idx LIMIT 1), '.')`;
  const anyIn = (state: 'rollout' | 'scored') =>
    sql`EXISTS (SELECT 1 FROM groups WHERE round = ${id} AND state = ${state})`;
  return [
    sql`UPDATE rounds SET state = 'training', training_at = ${now}, touched_at = ${now}
      WHERE id = ${id} AND state = 'rollout' AND NOT ${anyIn('rollout')} AND ${anyIn('scored')}`,
    sql`UPDATE rounds SET state = 'failed', ended_at = ${now}, touched_at = ${now},
        reason = 'None of its ' || expected || ' groups could be '
          || CASE state WHEN 'training' THEN 'trained' ELSE 'scored' END || ${why}
      WHERE id = ${id} AND state IN ('rollout', 'training') AND NOT ${anyIn('rollout')} AND NOT ${anyIn('scored')}`,
    stopRunOfFailed(id),
  ] as const;
};

/** Records a sign of progress, so that the clock does not re-drive the round. */
export const touchRound = (db: Database, id: string, now: number) =>
  db.update(rounds).set({ touchedAt: now, redrives: 0 }).where(eq(rounds.id, id));

/** Stores a round's report; the statements in `more` are written in the same transaction. */
export const setReport = async (
  db: Database,
  id: string,
  report: RoundReport,
  more: readonly Statement[] = [],
): Promise<void> => {
  await writeAll(db, [db.update(rounds).set({ report }).where(eq(rounds.id, id)), ...more]);
};

/**
 * Open rounds without a sign of progress since `before`, the longest waiting first. A round whose last sign lies well after
 * `now` is included: a clock that had jumped wrote it, and the round would otherwise wait until that time is reached.
 */
export const stalledRounds = (
  db: Database,
  { before, now, limit }: { readonly before: number; readonly now: number; readonly limit: number },
): Promise<RoundRow[]> =>
  db
    .select()
    .from(rounds)
    .where(
      and(
        inArray(rounds.state, [...OPEN_ROUNDS]),
        not(isPaused(sql`${rounds.run}`)),
        or(lt(rounds.touchedAt, before), gt(rounds.touchedAt, now + CLOCK_SKEW_MS)),
      ),
    )
    .orderBy(asc(rounds.touchedAt))
    .limit(limit);

/** A text that changes whenever one of the newest rounds of a run does, or of the mesh where none is named. */
export async function changeMark(db: Database, run: string | undefined): Promise<string> {
  const rows = await db
    .select({
      id: rounds.id,
      state: rounds.state,
      touchedAt: rounds.touchedAt,
      report: sql<number>`coalesce(length(${rounds.report}), 0)`,
    })
    .from(rounds)
    .where(run === undefined ? undefined : eq(rounds.run, run))
    .orderBy(desc(rounds.createdAt), desc(rounds.index))
    .limit(MARKED_ROUNDS);
  return JSON.stringify(rows);
}

/** By chance, so that rounds whose news is refused again and again keep no others waiting. */
const BY_CHANCE = sql`random()`;

/** Rounds that ended after `since` and whose end the callback has not been told yet; where there are more than `limit`, other ones each time. */
export const untoldRounds = (db: Database, since: number, limit: number): Promise<RoundRow[]> =>
  db
    .select()
    .from(rounds)
    .where(and(gt(rounds.endedAt, since), isNull(rounds.toldAt)))
    .orderBy(BY_CHANCE)
    .limit(limit);

export const markTold = (db: Database, id: string, now: number) =>
  writeAll(db, [db.update(rounds).set({ toldAt: now }).where(eq(rounds.id, id))]);

/** Rounds that ended after `since` and were not sent as traces yet: evaluated, failed, or ended before `waited`; some of them, as `untoldRounds`. */
export const untracedRounds = (
  db: Database,
  since: number,
  waited: number,
  limit: number,
): Promise<RoundRow[]> =>
  db
    .select()
    .from(rounds)
    .where(
      and(
        gt(rounds.endedAt, since),
        isNull(rounds.tracedAt),
        sql`(${rounds.report}->'$.evaluation' IS NOT NULL OR ${rounds.state} = 'failed' OR ${rounds.endedAt} < ${waited})`,
      ),
    )
    .orderBy(BY_CHANCE)
    .limit(limit);

export const markTraced = (db: Database, ids: readonly string[], now: number) =>
  writeAll(db, [
    db
      .update(rounds)
      .set({ tracedAt: now })
      .where(inArray(rounds.id, [...ids])),
  ]);

/** Claims a stalled round for a re-drive and adds `as` to its count of re-drives. @returns false if another caller was first */
export async function claimRedrive(db: Database, row: RoundRow, now: number, as = 1): Promise<boolean> {
  const { meta } = await db
    .update(rounds)
    .set({ touchedAt: now, redrives: row.redrives + as })
    .where(and(eq(rounds.id, row.id), eq(rounds.state, row.state), eq(rounds.touchedAt, row.touchedAt)));
  return meta.changes === 1;
}
