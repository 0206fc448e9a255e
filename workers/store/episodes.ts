/** The rows of agents' episodes and of their calls. Each change is one statement that compares and sets, so that of two callers one makes it. */
import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { Score } from '../../core/net/reward-service.ts';
import { type EpisodeKey, MOST_CALLS, type SeatRewards, type TurnRewards } from '../../core/schema/agent.ts';
import type { MissingReward } from '../../core/schema/missing-reward.ts';
import { type Database, runAll, writeAll } from './database.ts';
import { touchRound } from './rounds.ts';
import { calls, episodes } from './schema.ts';

export type EpisodeRow = typeof episodes.$inferSelect;
export type CallRow = typeof calls.$inferSelect;

/** Where the answer to a call is stored. */
export const callKey = (round: string, { group, sample }: EpisodeKey, turn: number): string =>
  `rounds/${round}/groups/${group}/episodes/${sample}-${turn}.json`;

const isEpisode = ({ group, sample }: EpisodeKey) =>
  and(eq(episodes.group, group), eq(episodes.sample, sample));
const isCallOf = ({ group, sample }: EpisodeKey) => and(eq(calls.group, group), eq(calls.sample, sample));

export const getEpisode = async (db: Database, key: EpisodeKey): Promise<EpisodeRow | undefined> =>
  (await db.select().from(episodes).where(isEpisode(key)))[0];

/**
 * Opens the next episode that nobody has held: of the run's earliest round in rollout, its first task first, so that groups fill up one
 * after the other. `opening`: the request; sent again, the same episode is the answer, and `again` is true. @returns undefined where none is left for now
 */
export async function openEpisode(
  db: Database,
  run: string,
  opening: string,
  now: number,
): Promise<{ readonly row: EpisodeRow; readonly again: boolean } | undefined> {
  const [opened] = await writeAll(db, [
    sql`INSERT INTO episodes (grp, sample, round, idx, opening, state, opened_at, touched_at)
        SELECT groups.id, numbers.value, groups.round, groups.idx, ${opening}, 'open', ${now}, ${now}
        FROM rounds JOIN groups ON groups.round = rounds.id
        JOIN json_each(${JSON.stringify(Array.from({ length: 64 }, (_, i) => i))}) AS numbers
        WHERE rounds.run = ${run} AND rounds.state = 'rollout' AND groups.state = 'rollout'
        AND numbers.value < rounds.spec->>'$.settings.groupSize'
        AND NOT EXISTS (SELECT 1 FROM episodes WHERE grp = groups.id AND sample = numbers.value)
        AND NOT EXISTS (SELECT 1 FROM episodes WHERE opening = ${opening})
        ORDER BY rounds.idx, groups.idx, numbers.value LIMIT 1
        ON CONFLICT DO NOTHING`,
  ]);
  const [row] = await db.select().from(episodes).where(eq(episodes.opening, opening));
  return row && { row, again: opened === 0 };
}

/**
 * Begins a call of a seat in an open episode. `request`: its key; begun again under the same one, it is the same call. @returns undefined where the
 * episode is not open, or has had as many calls as one may have
 */
export async function beginCall(
  db: Database,
  key: EpisodeKey,
  { role, request, asked }: Pick<CallRow, 'role' | 'request' | 'asked'>,
  now: number,
): Promise<CallRow | undefined> {
  const { group, sample } = key;
  const before = sql`(SELECT count(*) FROM calls WHERE grp = ${group} AND sample = ${sample})`;
  await writeAll(db, [
    sql`INSERT INTO calls (grp, sample, turn, role, request, asked, state)
        SELECT grp, sample, ${before}, ${role}, ${request}, ${asked}, 'begun' FROM episodes
        WHERE grp = ${group} AND sample = ${sample} AND state = 'open' AND ${before} < ${MOST_CALLS}
        AND NOT EXISTS (SELECT 1 FROM calls WHERE grp = ${group} AND sample = ${sample} AND request = ${request})
        ON CONFLICT DO NOTHING`,
    db
      .update(episodes)
      .set({ touchedAt: now })
      .where(and(isEpisode(key), eq(episodes.state, 'open'))),
  ]);
  return (
    await db
      .select()
      .from(calls)
      .where(and(isCallOf(key), eq(calls.request, request)))
  )[0];
}

/** The newest call that asked the same; undefined where there is none. */
export const callThatAsked = async (
  db: Database,
  key: EpisodeKey,
  asked: string,
): Promise<CallRow | undefined> =>
  (
    await db
      .select()
      .from(calls)
      .where(and(isCallOf(key), eq(calls.asked, asked)))
      .orderBy(sql`${calls.turn} DESC`)
      .limit(1)
  )[0];

/** The calls of a seat whose answers stand in one of these conversations, by their hashes. */
export const callsThatLeft = (
  db: Database,
  key: EpisodeKey,
  role: string,
  dialogues: readonly string[],
): Promise<CallRow[]> =>
  db
    .select()
    .from(calls)
    .where(
      and(
        isCallOf(key),
        eq(calls.role, role),
        eq(calls.state, 'done'),
        sql`${calls.dialogue} IN (SELECT value FROM json_each(${JSON.stringify(dialogues)}))`,
      ),
    )
    .orderBy(asc(calls.turn));

/** Makes a call whose answer is stored a part of its episode. @returns false where the episode has ended meanwhile: the call is none of it */
export async function endCall(
  db: Database,
  key: EpisodeKey,
  { turn, dialogue }: Pick<CallRow, 'turn' | 'dialogue'>,
  now: number,
): Promise<boolean> {
  const { group, sample } = key;
  await writeAll(db, [
    sql`UPDATE calls SET state = 'done', dialogue = ${dialogue}
        WHERE grp = ${group} AND sample = ${sample} AND turn = ${turn}
        AND EXISTS (SELECT 1 FROM episodes JOIN rounds ON rounds.id = episodes.round
          WHERE grp = ${group} AND sample = ${sample} AND episodes.state = 'open' AND rounds.state = 'rollout')`,
    db
      .update(episodes)
      .set({ touchedAt: now })
      .where(and(isEpisode(key), eq(episodes.state, 'open'))),
  ]);
  const [row] = await db
    .select({ state: calls.state })
    .from(calls)
    .where(and(isCallOf(key), eq(calls.turn, turn)));
  return row?.state === 'done';
}

/** Ends an open episode of a round in rollout, with the reward of every seat, those of each, or without. @returns false where it had ended, or its round has */
export async function rewardEpisode(
  db: Database,
  key: EpisodeKey,
  round: string,
  { score, turns }: { readonly score: Score | SeatRewards; readonly turns: TurnRewards },
  now: number,
): Promise<boolean> {
  const { group, sample } = key;
  const reward = typeof score === 'number' ? score : null;
  const missing = typeof score === 'string' ? score : null;
  const seats = typeof score === 'object' ? JSON.stringify(score) : null;
  const [ended] = await writeAll(db, [
    sql`UPDATE episodes SET state = 'rewarded', reward = ${reward}, seat_rewards = ${seats}, turn_rewards = ${JSON.stringify(turns)}, missing = ${missing}, touched_at = ${now}
        WHERE grp = ${group} AND sample = ${sample} AND state = 'open'
        AND EXISTS (SELECT 1 FROM rounds WHERE id = ${round} AND state = 'rollout')`,
    touchRound(db, round, now),
  ]);
  return ended === 1;
}

/** Gives up open episodes without a sign of their agents since `before`, and says of which groups they were. */
export async function giveUpEpisodes(
  db: Database,
  before: number,
  missing: MissingReward,
): Promise<Pick<EpisodeRow, 'round' | 'group' | 'index'>[]> {
  const [given] = await runAll(db, [
    sql`UPDATE episodes SET state = 'missing', missing = ${missing}
        WHERE state = 'open' AND touched_at < ${before} RETURNING round, grp AS "group", idx AS "index"`,
  ]);
  return given!.results as Pick<EpisodeRow, 'round' | 'group' | 'index'>[];
}

/** Those of a round's groups in rollout whose episodes have all ended; `groups`: only among these. */
export async function groupsHeld(
  db: Database,
  round: string,
  groups?: readonly string[],
): Promise<{ readonly group: string; readonly index: number }[]> {
  const some = groups
    ? sql`AND groups.id IN (SELECT value FROM json_each(${JSON.stringify(groups)}))`
    : sql``;
  const [found] = await runAll(db, [
    sql`SELECT groups.id AS "group", groups.idx AS "index" FROM groups JOIN rounds ON rounds.id = groups.round
        WHERE groups.round = ${round} AND groups.state = 'rollout' ${some}
        AND (SELECT count(*) FROM episodes WHERE grp = groups.id AND episodes.state <> 'open')
          >= rounds.spec->>'$.settings.groupSize'
        ORDER BY groups.idx`,
  ]);
  return found!.results as { group: string; index: number }[];
}

/** An answered call: its number and its seat. */
export type AnsweredCall = Pick<CallRow, 'turn' | 'role'>;

/** The answered calls of an episode, in order. */
export const answeredCallsOf = (db: Database, key: EpisodeKey): Promise<AnsweredCall[]> =>
  db
    .select({ turn: calls.turn, role: calls.role })
    .from(calls)
    .where(and(isCallOf(key), eq(calls.state, 'done')))
    .orderBy(asc(calls.turn));

/** The episodes of a group, each with its answered calls, in order. */
export async function heldEpisodes(
  db: Database,
  group: string,
): Promise<(EpisodeRow & { readonly calls: readonly AnsweredCall[] })[]> {
  const rows = await db
    .select()
    .from(episodes)
    .where(eq(episodes.group, group))
    .orderBy(asc(episodes.sample));
  const done = await db
    .select({ sample: calls.sample, turn: calls.turn, role: calls.role })
    .from(calls)
    .where(and(eq(calls.group, group), eq(calls.state, 'done')))
    .orderBy(asc(calls.turn));
  return rows.map((row) => ({
    ...row,
    calls: done.filter(({ sample }) => sample === row.sample),
  }));
}

/** How many episodes of a round there are in each state. */
export async function countEpisodes(
  db: Database,
  round: string,
): Promise<Record<EpisodeRow['state'], number>> {
  const rows = await db
    .select({ state: episodes.state, n: sql<number>`count(*)` })
    .from(episodes)
    .where(and(eq(episodes.round, round), inArray(episodes.state, ['open', 'rewarded', 'missing'])))
    .groupBy(episodes.state);
  return Object.fromEntries([
    ...(['open', 'rewarded', 'missing'] as const).map((state) => [state, 0]),
    ...rows.map(({ state, n }) => [state, n]),
  ]) as Record<EpisodeRow['state'], number>;
}

/** Removes the rows of rounds that ended before a time: what they led to is in the record. */
export const forgetEpisodes = (db: Database, before: number) =>
  writeAll(db, [
    sql`DELETE FROM calls WHERE grp IN (SELECT grp FROM episodes WHERE round IN (SELECT id FROM rounds WHERE ended_at < ${before}) LIMIT 200)`,
    sql`DELETE FROM episodes WHERE round IN (SELECT id FROM rounds WHERE ended_at < ${before})
        AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.grp = episodes.grp)`,
  ]);
