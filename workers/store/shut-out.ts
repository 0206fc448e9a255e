/** Shuts a node out, and has everything sampled again that it had a part in and that is not trained yet. */
import type { R2Bucket } from '@cloudflare/workers-types';
import { type SQL, sql } from 'drizzle-orm';
import { type Database, openRounds, runAll, writeAll } from './database.ts';
import { releaseOf } from './work.ts';

type Group = { readonly group: string; readonly index: number };

export interface Redrawn {
  readonly round: string;
  /** The groups that are rolled out again, with their indices; null = the whole round, from its proposals on. */
  readonly groups: readonly Group[] | null;
}

/**
 * Every open round is audited before it is trained, and in each some of every node's requests are: so what a node did since its last clean
 * audit is what it did in open rounds. Its groups go back to the rollout, and a round whose proposals it wrote begins again.
 *
 * Both count as another attempt of the round, by which what is stored of the earlier one, and what an isolate makes of it that is under way
 * now, are told from the new. So groups that were rolled out and not judged yet are rolled out again, too, by the answers that are there.
 */
export async function shutOut(
  db: Database,
  bucket: R2Bucket,
  node: string,
  reason: string,
  now: number,
): Promise<Redrawn[]> {
  await writeAll(db, [
    sql`UPDATE nodes SET shut_out_at = coalesce(shut_out_at, ${now}), reason = coalesce(reason, ${reason}) WHERE id = ${node}`,
    releaseOf(node),
  ]);
  const [touched] = await runAll(db, [
    sql`SELECT DISTINCT work.round AS round, work.stage AS stage, work.grp AS grp FROM work JOIN rounds ON rounds.id = work.round
        WHERE work.node = ${node} AND work.state = 'done' AND rounds.state IN ${openRounds}`,
  ]);
  const rows = touched!.results as { round: string; stage: string; grp: string }[];
  const redrawn: Redrawn[] = [];
  for (const round of new Set(rows.map((row) => row.round))) {
    const own = rows.filter((row) => row.round === round);
    const again = own.some(({ stage }) => stage === 'propose')
      ? await beginAgain(db, bucket, round, now)
      : await rollOutAgain(db, round, [...new Set(own.map(({ grp }) => grp))], now);
    if (again) redrawn.push(again);
  }
  return redrawn;
}

/** The round may have ended since it was looked up. */
const isOpen = (round: string): SQL =>
  sql`EXISTS (SELECT 1 FROM rounds WHERE id = ${round} AND state IN ${openRounds})`;

async function beginAgain(
  db: Database,
  bucket: R2Bucket,
  round: string,
  now: number,
): Promise<Redrawn | null> {
  // If calls cannot be removed, the rows that name the node are still there when this is tried again; those that are answered meanwhile are
  // removed afterwards.
  await removeCalls(bucket, round);
  const changes = await writeAll(db, [
    sql`DELETE FROM calls WHERE grp IN (SELECT grp FROM episodes WHERE round = ${round}) AND ${isOpen(round)}`,
    sql`DELETE FROM episodes WHERE round = ${round} AND ${isOpen(round)}`,
    sql`DELETE FROM groups WHERE round = ${round} AND ${isOpen(round)}`,
    sql`DELETE FROM work WHERE round = ${round} AND ${isOpen(round)}`,
    sql`UPDATE rounds SET state = 'proposing', attempt = attempt + 1, expected = 0, proposed = 0, proposals_sha256 = NULL, rollout_at = NULL,
        training_at = NULL, touched_at = ${now}, redrives = 0 WHERE id = ${round} AND state IN ${openRounds}`,
  ]);
  await removeCalls(bucket, round);
  return changes.at(-1) === 1 ? { round, groups: null } : null;
}

async function rollOutAgain(
  db: Database,
  round: string,
  groups: readonly string[],
  now: number,
): Promise<Redrawn | null> {
  const named = sql`(SELECT value FROM json_each(${JSON.stringify(groups)}))`;
  const results = await runAll(db, [
    sql`UPDATE groups SET state = 'rollout', sha256 = NULL, mac = NULL, failure = NULL WHERE round = ${round} AND id IN ${named} AND ${isOpen(round)}`,
    sql`DELETE FROM work WHERE round = ${round} AND grp IN ${named} AND ${isOpen(round)}`,
    sql`SELECT id AS "group", idx AS "index" FROM groups WHERE round = ${round} AND state = 'rollout' ORDER BY idx`,
    sql`UPDATE rounds SET state = 'rollout', attempt = attempt + 1, training_at = NULL, touched_at = ${now}, redrives = 0
        WHERE id = ${round} AND state IN ${openRounds}`,
  ]);
  const [, , waiting, begun] = results;
  return begun!.meta.changes === 1 ? { round, groups: waiting!.results as Group[] } : null;
}

/** Removes what agents were answered in a round: its groups keep their ids, by which calls about the new tasks would find it. */
async function removeCalls(bucket: R2Bucket, round: string): Promise<void> {
  for (let cursor: string | undefined; ; ) {
    const listed = await bucket.list({ prefix: `rounds/${round}/groups/`, ...(cursor ? { cursor } : {}) });
    const calls = listed.objects.flatMap(({ key }) => (key.includes('/episodes/') ? [key] : []));
    if (calls.length) await bucket.delete(calls);
    if (!listed.truncated) return;
    ({ cursor } = listed);
  }
}
