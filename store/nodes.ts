/** The rows of nodes: programs outside the mesh that compute for it, each with a token of its own. */
import { asc, eq, sql } from 'drizzle-orm';
import type { AuditedNodes, NodeAnswer } from '../core/schema/work.ts';
import { type Database, openRounds, writeAll } from './database.ts';
import { nodes } from './schema.ts';
import { releaseOf } from './work.ts';

export type NodeRow = typeof nodes.$inferSelect;

/** A node is known to be there for so long after it was last heard of, ms. Its working threads ask or answer far more often. */
export const LIVE_MS = 15_000;
/** At most so often a node's asking is written down, ms. */
const NOTED_MS = 2_000;

export const getNode = async (db: Database, id: string): Promise<NodeRow | undefined> =>
  (await db.select().from(nodes).where(eq(nodes.id, id)))[0];

export const nodeOfName = async (db: Database, name: string): Promise<NodeRow | undefined> =>
  (await db.select().from(nodes).where(eq(nodes.name, name)))[0];

/** Inserts a node. @returns false if the name is taken */
export async function insertNode(
  db: Database,
  node: Pick<NodeRow, 'id' | 'name' | 'exactness' | 'tokenSha256' | 'publicKey' | 'createdAt'>,
): Promise<boolean> {
  const [inserted] = await writeAll(db, [db.insert(nodes).values(node).onConflictDoNothing()]);
  return inserted === 1;
}

/** Notes that a node was heard of. */
export async function noteSeen(
  db: Database,
  node: NodeRow,
  { kind, threads }: Pick<NodeRow, 'kind' | 'threads'>,
  now: number,
): Promise<void> {
  const fresh = node.seenAt !== null && now - node.seenAt < NOTED_MS;
  if (fresh && node.kind === kind && node.threads === threads) return;
  await writeAll(db, [db.update(nodes).set({ kind, threads, seenAt: now }).where(eq(nodes.id, node.id))]);
}

const alive = (now: number) => sql`seen_at > ${now - LIVE_MS} AND revoked_at IS NULL AND shut_out_at IS NULL`;

/** Whether there ever was a node, whether one is there now (it asked for work lately, and may have some), and whether an exact one is. */
export async function nodesNow(
  db: Database,
  now: number,
): Promise<{ readonly any: boolean; readonly live: boolean; readonly exact: boolean }> {
  const [row] = await db
    .select({
      any: sql<number>`count(*)`,
      live: sql<number>`coalesce(sum(${alive(now)}), 0)`,
      exact: sql<number>`coalesce(sum(${alive(now)} AND exactness = 'exact'), 0)`,
    })
    .from(nodes);
  return { any: (row?.any ?? 0) > 0, live: (row?.live ?? 0) > 0, exact: (row?.exact ?? 0) > 0 };
}

/** Notes that a node leaves, so that nothing waits for it. */
export const noteGone = (db: Database, id: string) =>
  writeAll(db, [db.update(nodes).set({ seenAt: 0 }).where(eq(nodes.id, id)), releaseOf(id)]);

/** Ends a node's right to anything, and takes back what it holds. @returns how many requests that was */
export async function revokeNode(db: Database, id: string, now: number): Promise<number> {
  const [, released] = await writeAll(db, [
    db
      .update(nodes)
      .set({ revokedAt: sql`coalesce(revoked_at, ${now})` })
      .where(eq(nodes.id, id)),
    releaseOf(id),
  ]);
  return released!;
}

/** Notes how many requests of each node an audit found right, and how close the close ones were. */
export const noteAudited = (db: Database, { nodes: right, mismatch }: AuditedNodes, now: number) =>
  writeAll(db, [
    ...Object.entries(right).map(([id, n]) =>
      db
        .update(nodes)
        .set({ audited: sql`audited + ${n}`, auditedAt: now })
        .where(eq(nodes.id, id)),
    ),
    ...Object.entries(mismatch).map(([id, { tokens, sum, most }]) =>
      db
        .update(nodes)
        .set({
          comparedTokens: sql`compared_tokens + ${tokens}`,
          mismatchSum: sql`mismatch_sum + ${sum}`,
          mismatchMost: sql`max(mismatch_most, ${most})`,
        })
        .where(eq(nodes.id, id)),
    ),
  ]);

/** All nodes in the order in which they were made. */
export async function listNodes(db: Database, now: number): Promise<NodeAnswer[]> {
  const rows = await db
    .select({
      row: nodes,
      leased: sql<number>`(SELECT count(*) FROM work WHERE work.state = 'leased' AND work.node = ${nodes.id}
        AND work.leased_until >= ${now} AND EXISTS (SELECT 1 FROM rounds WHERE rounds.id = work.round AND stage IN ${openRounds}))`,
    })
    .from(nodes)
    .orderBy(asc(nodes.createdAt))
    .limit(1000);
  return rows.map(({ row, leased }) => {
    const { tokenSha256: _, publicKey: __, comparedTokens, mismatchSum, mismatchMost, ...told } = row;
    const { revokedAt, shutOutAt, seenAt, ...seen } = told;
    const live = seenAt !== null && seenAt > now - LIVE_MS;
    const state =
      shutOutAt !== null
        ? 'shut-out'
        : revokedAt !== null
          ? 'revoked'
          : leased
            ? 'working'
            : live
              ? 'idle'
              : 'away';
    const mismatch = { tokens: comparedTokens, sum: mismatchSum, most: mismatchMost };
    return { ...seen, seenAt: seenAt || null, leased, state, mismatch };
  });
}
