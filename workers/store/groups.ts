/** The rows of groups, the unit of work. A group's state only moves forward, rollout -> scored -> trained, or becomes failed with its failure. */
import { and, asc, eq, gte, inArray, sql } from 'drizzle-orm';
import type { GroupState, WAITING_GROUPS } from '../../core/round/stages.ts';
import type { AdmittedTask } from '../../core/schema/sample.ts';
import { type Database, writeAll } from './database.ts';
import { settleRound, touchRound } from './rounds.ts';
import { type Failure, groups } from './schema.ts';

export type GroupRow = typeof groups.$inferSelect;
export type GroupCountsByState = Record<GroupState, number>;

export const groupsOf = (db: Database, round: string, states?: readonly GroupState[]) =>
  db
    .select()
    .from(groups)
    .where(and(eq(groups.round, round), states ? inArray(groups.state, [...states]) : undefined))
    .orderBy(asc(groups.index));

/** A page of a round's groups from an index on, in order. */
export const groupsFrom = (db: Database, round: string, from: number, limit: number): Promise<GroupRow[]> =>
  db
    .select()
    .from(groups)
    .where(and(eq(groups.round, round), gte(groups.index, from)))
    .orderBy(asc(groups.index))
    .limit(limit);

export const getGroup = async (db: Database, round: string, id: string): Promise<GroupRow | undefined> =>
  (
    await db
      .select()
      .from(groups)
      .where(and(eq(groups.round, round), eq(groups.id, id)))
  )[0];

/** The rows of those of the named groups that are still in state `rollout`. */
export const rolloutRows = (db: Database, round: string, ids: readonly string[]) =>
  db
    .select()
    .from(groups)
    .where(
      and(
        eq(groups.round, round),
        eq(groups.state, 'rollout'),
        sql`${groups.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
      ),
    )
    .orderBy(asc(groups.index));

export const tasksOfRows = (rows: readonly GroupRow[]): AdmittedTask[] =>
  rows.map(({ id, index, task, proposal }) => ({ group: id, index, task, proposal }));

const NO_GROUPS: GroupCountsByState = { rollout: 0, scored: 0, trained: 0, failed: 0 };

export const countByState = (db: Database, rounds: readonly string[]) =>
  db
    .select({ round: groups.round, state: groups.state, n: sql<number>`count(*)`.as('n') })
    .from(groups)
    .where(sql`${groups.round} IN (SELECT value FROM json_each(${JSON.stringify(rounds)}))`)
    .groupBy(groups.round, groups.state);

export const countsOf = (
  rounds: readonly string[],
  rows: Awaited<ReturnType<typeof countByState>>,
): ReadonlyMap<string, GroupCountsByState> => {
  const counts = new Map(rounds.map((round) => [round, { ...NO_GROUPS }]));
  for (const { round, state, n } of rows) counts.get(round)![state] = n;
  return counts;
};

export const countGroups = async (db: Database, rounds: readonly string[]) =>
  countsOf(rounds, await countByState(db, rounds));

/** Moves the groups from rollout to scored, and moves the round on if they were its last ones; nothing where the round is at another attempt. */
export async function markScored(
  db: Database,
  round: string,
  scored: readonly { readonly group: string; readonly sha256: string; readonly mac?: string }[],
  now: number,
  attempt = 0,
): Promise<void> {
  await writeAll(db, [
    sql`UPDATE groups SET state = 'scored', sha256 = scored.value->>'sha256', mac = scored.value->>'mac'
        FROM json_each(${JSON.stringify(scored)}) AS scored
        WHERE groups.round = ${round} AND groups.id = scored.value->>'group' AND groups.state = 'rollout'
          AND EXISTS (SELECT 1 FROM rounds WHERE id = ${round} AND attempt = ${attempt})`,
    touchRound(db, round, now),
    ...settleRound(round, now),
  ]);
}

/** Moves a group from one of these states to failed. The round goes on without it, or fails if no other group is left. */
export async function failGroup(
  db: Database,
  round: string,
  id: string,
  from: readonly (keyof typeof WAITING_GROUPS)[],
  failure: Failure,
  now: number,
): Promise<void> {
  await writeAll(db, [
    db
      .update(groups)
      .set({ state: 'failed', failure })
      .where(and(eq(groups.round, round), eq(groups.id, id), inArray(groups.state, [...from]))),
    touchRound(db, round, now),
    ...settleRound(round, now),
  ]);
}
