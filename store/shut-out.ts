/** Shuts a node out, and has everything sampled again that it had a part in and that is not trained yet. */
import { sql } from 'drizzle-orm';
import { type Database, openRounds, runAll, writeAll } from './database.ts';
import { releaseOf } from './work.ts';

export interface Redrawn {
  readonly round: string;
  /** The groups that are rolled out again, with their indices; null = the whole round, from its proposals on. */
  readonly groups: readonly { readonly group: string; readonly index: number }[] | null;
}

/**
 * Every open round is audited before it is trained, and in each some of every node's requests are: so what a node did since its last clean
 * audit is what it did in open rounds. Its groups go back to the rollout, and a round whose proposals it wrote begins again.
 */
export async function shutOut(db: Database, node: string, reason: string, now: number): Promise<Redrawn[]> {
  await writeAll(db, [
    sql`UPDATE nodes SET shut_out_at = coalesce(shut_out_at, ${now}), reason = coalesce(reason, ${reason}) WHERE id = ${node}`,
    releaseOf(node),
  ]);
  const [touched] = await runAll(db, [
    sql`SELECT DISTINCT work.round AS round, work.stage AS stage, work.grp AS grp, work.idx AS idx FROM work JOIN rounds ON rounds.id = work.round
        WHERE work.node = ${node} AND work.state = 'done' AND rounds.stage IN ${openRounds}`,
  ]);
  const rows = touched!.results as { round: string; stage: string; grp: string; idx: number }[];
  const redrawn: Redrawn[] = [];
  for (const round of new Set(rows.map((row) => row.round))) {
    const own = rows.filter((row) => row.round === round);
    if (own.some(({ stage }) => stage === 'propose')) {
      await writeAll(db, beginAgain(round, now));
      redrawn.push({ round, groups: null });
    } else {
      const groups = [...new Map(own.map(({ grp, idx }) => [grp, { group: grp, index: idx }])).values()];
      await writeAll(
        db,
        rollOutAgain(
          round,
          groups.map(({ group }) => group),
          now,
        ),
      );
      redrawn.push({ round, groups });
    }
  }
  return redrawn;
}

const beginAgain = (round: string, now: number) => [
  sql`DELETE FROM groups WHERE round = ${round}`,
  sql`DELETE FROM work WHERE round = ${round}`,
  sql`UPDATE rounds SET stage = 'proposing', expected = 0, proposed = 0, proposals_sha256 = NULL, rollout_at = NULL, training_at = NULL,
      touched_at = ${now}, redrives = 0 WHERE id = ${round}`,
];

const rollOutAgain = (round: string, groups: readonly string[], now: number) => {
  const named = sql`(SELECT value FROM json_each(${JSON.stringify(groups)}))`;
  return [
    sql`UPDATE groups SET state = 'rollout', sha256 = NULL, mac = NULL, failure = NULL WHERE round = ${round} AND id IN ${named}`,
    sql`DELETE FROM work WHERE round = ${round} AND grp IN ${named}`,
    sql`UPDATE rounds SET stage = 'rollout', training_at = NULL, touched_at = ${now}, redrives = 0 WHERE id = ${round}`,
  ];
};
