/** Reopens the group or round that failed with a dead letter, so that its message can be replayed, if the round can still use it. */
import { type SQL, sql } from 'drizzle-orm';
import { WAITING_GROUPS } from '../../core/round/stages.ts';
import { type Database, writeAll } from './database.ts';

/** No later round of the run has been trained, and none was begun after this one had failed. */
const isLast = (round: string) => sql`NOT EXISTS (SELECT 1 FROM rounds AS later JOIN rounds AS own
  ON own.id = ${round} WHERE later.run = own.run AND later.idx > own.idx
    AND (later.state = 'done' OR later.idx > own.idx + coalesce(own.spec->>'$.settings.ahead', 0)))`;

/** The run was not deleted. */
const isThere = (round: string) => sql`EXISTS (SELECT 1 FROM runs JOIN rounds AS own ON own.run = runs.id
  WHERE own.id = ${round} AND runs.deleted_at IS NULL)`;

/** Moves a failed round back to `stage` and opens its run again. Only the last round of a run can be reopened, or one before others that were begun together with it. */
const reopen = (round: string, stage: string, due: SQL, now: number) =>
  [
    sql`UPDATE rounds SET state = ${stage}, reason = NULL, ended_at = NULL, touched_at = ${now}
      WHERE id = ${round} AND state = 'failed' AND ${due} AND ${isLast(round)} AND ${isThere(round)}`,
    sql`UPDATE runs SET state = 'open'
      WHERE id = (SELECT run FROM rounds WHERE id = ${round} AND state = ${stage})`,
  ] as const;

/** Moves a failed group back to state `to` and reopens its round. @returns false if the group is not failed or its round has moved on */
export async function reviveGroup(
  db: Database,
  round: string,
  group: string,
  to: keyof typeof WAITING_GROUPS,
  now: number,
): Promise<boolean> {
  const stage = WAITING_GROUPS[to];
  const [revived] = await writeAll(db, [
    sql`UPDATE groups SET state = ${to}, failure = NULL
        WHERE round = ${round} AND id = ${group} AND state = 'failed' AND EXISTS (SELECT 1 FROM rounds
          WHERE id = ${round} AND (state = ${stage} OR (state = 'failed' AND ${isLast(round)})))`,
    ...reopen(round, stage, sql`EXISTS (SELECT 1 FROM groups WHERE round = ${round} AND state = ${to})`, now),
  ]);
  return revived === 1;
}

/** Reopens a round that the learner gave up, to be trained. @returns false if none of its groups waits for that, or it cannot be reopened */
export async function reviveTraining(db: Database, round: string, now: number): Promise<boolean> {
  const waiting = sql`EXISTS (SELECT 1 FROM groups WHERE round = ${round} AND state = 'scored')`;
  const [revived] = await writeAll(db, [...reopen(round, 'training', waiting, now)]);
  return revived === 1;
}

/** Reopens a round that failed before it had any group. @returns false if it has groups or cannot be reopened */
export async function reviveProposal(db: Database, round: string, now: number): Promise<boolean> {
  const empty = sql`NOT EXISTS (SELECT 1 FROM groups WHERE round = ${round})`;
  const [revived] = await writeAll(db, [...reopen(round, 'proposing', empty, now)]);
  return revived === 1;
}
