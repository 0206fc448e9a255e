/** The rows of nodes: programs outside the mesh that compute for it, each with a token of its own. */
import { asc, eq, getTableColumns, sql } from 'drizzle-orm';
import type { AuditedNodes, Mismatch, NodeAnswer } from '../../core/schema/work.ts';
import { type Database, openRounds, runAll, writeAll } from './database.ts';
import { nodes, work } from './schema.ts';
import {
  allowedTo,
  heldBy,
  type Lease,
  type LeasedWork,
  leasedOf,
  leaseStatements,
  nodesOf,
  releaseOf,
  showsGold,
  type WorkRow,
} from './work.ts';

export type NodeRow = typeof nodes.$inferSelect;

/** A node is known to be there for so long after it was last heard of, ms. Its working threads ask or answer far more often. */
export const LIVE_MS = 15_000;
/** At most so often a node's asking is written down, ms. */
const NOTED_MS = 2_000;

const ofNode = (db: Database, id: string) => db.select().from(nodes).where(eq(nodes.id, id));

export const getNode = async (db: Database, id: string): Promise<NodeRow | undefined> =>
  (await ofNode(db, id))[0];

/** A node, and the requests that it holds, in one call. */
export async function getHolder(
  db: Database,
  id: string,
): Promise<{ readonly node: NodeRow | undefined; readonly held: readonly WorkRow[] }> {
  const [[node], held] = await db.batch([ofNode(db, id), heldBy(db, id)]);
  return { node, held };
}

export const nodeOfName = async (db: Database, name: string): Promise<NodeRow | undefined> =>
  (await db.select().from(nodes).where(eq(nodes.name, name)))[0];

/** Inserts a node. @returns false if the name is taken */
export async function insertNode(
  db: Database,
  node: Pick<NodeRow, 'id' | 'name' | 'exactness' | 'tokenSha256' | 'publicKey' | 'createdAt'> &
    Partial<Pick<NodeRow, 'reads' | 'seesGold'>>,
): Promise<boolean> {
  const [inserted] = await writeAll(db, [db.insert(nodes).values(node).onConflictDoNothing()]);
  return inserted === 1;
}

export interface Asking extends Pick<NodeRow, 'id' | 'tokenSha256' | 'exactness' | 'kind' | 'threads'> {}

/**
 * Leases to a node, if the token is the node's own and may lease, and notes that it was heard of; all in one call. A node gets no more than its threads'
 * share of half of what is open, so that at the end of a round no other is left without; but `least`, if so much is open.
 * @returns the node as it was, whoever asked; `soon`: whether tasks of a round are being proposed
 */
export async function leaseToNode(
  db: Database,
  { id, tokenSha256, exactness, kind, threads }: Asking,
  order: Omit<Lease, 'node' | 'close' | 'of' | 'limit'> & {
    readonly limit: number;
    /** At most `limit` of these; default 1. */
    readonly least?: number | undefined;
  },
  now: number,
): Promise<{
  readonly row: NodeRow | undefined;
  readonly leased: readonly LeasedWork[];
  readonly soon: boolean;
}> {
  const may = sql`id = ${id} AND token_sha256 = ${tokenSha256} AND exactness = ${exactness}
    AND revoked_at IS NULL AND shut_out_at IS NULL AND reads IS NULL`;
  const others = sql`(SELECT coalesce(sum(threads), 0) FROM nodes WHERE id <> ${id} AND ${alive(now)})`;
  const token = sql`EXISTS (SELECT 1 FROM nodes WHERE ${may})`;
  const { limit } = order;
  const least = Math.min(order.least ?? 1, limit);
  // Numbers are bound as floating-point ones, and a limit has to be whole. For a stranger nothing is looked through.
  const share = sql`CASE WHEN ${token} THEN
    (SELECT max(${least}, min(${limit}, CAST(${threads} * count(*) / (2 * (${threads} + ${others})) AS INTEGER)))
      FROM (SELECT 1 FROM work WHERE state = 'open' AND ${allowedTo(id)} LIMIT CAST(2 * ${limit} * (${threads} + ${others}) AS INTEGER)))
    ELSE 0 END`;
  const results = await runAll(db, [
    ofNode(db, id),
    sql`SELECT EXISTS (SELECT 1 FROM rounds WHERE state = 'proposing') AS soon`,
    sql`UPDATE nodes SET kind = ${kind}, threads = ${threads}, seen_at = ${now}
        WHERE ${may} AND (seen_at IS NULL OR seen_at <= ${now - NOTED_MS} OR kind IS NOT ${kind} OR threads IS NOT ${threads})`,
    ...leaseStatements({ ...order, node: id, close: exactness === 'close', limit: share }, now, token),
  ]);
  const [raw] = results[0]!.results as Record<string, unknown>[];
  const [{ soon }] = results[1]!.results as [{ soon: number }];
  return { row: raw && nodeRowOf(raw), leased: leasedOf(results.at(-1)!), soon: soon === 1 };
}

/** A row as the database has it. */
const nodeRowOf = (raw: Record<string, unknown>): NodeRow =>
  Object.fromEntries(
    Object.entries(getTableColumns(nodes)).map(([key, column]) => {
      const value = raw[column.name];
      return [key, value === null ? null : column.mapFromDriverValue(value)];
    }),
  ) as unknown as NodeRow;

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

/**
 * Whether there ever was a node, whether one is there now (it asked for work lately, and may have some), and whether an exact one is; whether one is
 * there whose token is for gold, and whether an exact one is.
 */
export interface NodesNow {
  readonly any: boolean;
  readonly live: boolean;
  readonly exact: boolean;
  readonly gold: boolean;
  readonly exactGold: boolean;
}

export const countNodesNow = (db: Database, now: number) =>
  db
    .select({
      any: sql<number>`count(*)`.as('of_all'),
      live: sql<number>`coalesce(sum(${alive(now)}), 0)`.as('alive'),
      exact: sql<number>`coalesce(sum(${alive(now)} AND exactness = 'exact'), 0)`.as('alive_exact'),
      gold: sql<number>`coalesce(sum(${alive(now)} AND sees_gold), 0)`.as('alive_gold'),
      exactGold: sql<number>`coalesce(sum(${alive(now)} AND sees_gold AND exactness = 'exact'), 0)`.as(
        'alive_exact_gold',
      ),
    })
    .from(nodes);

export const nodesNowOf = ([row]: Awaited<ReturnType<typeof countNodesNow>>): NodesNow => ({
  any: (row?.any ?? 0) > 0,
  live: (row?.live ?? 0) > 0,
  exact: (row?.exact ?? 0) > 0,
  gold: (row?.gold ?? 0) > 0,
  exactGold: (row?.exactGold ?? 0) > 0,
});

export const nodesNow = async (db: Database, now: number): Promise<NodesNow> =>
  nodesNowOf(await countNodesNow(db, now));

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

const mismatchOf = (row: NodeRow): Mismatch => ({
  tokens: row.comparedTokens,
  sum: row.mismatchSum,
  most: row.mismatchMost,
  drift: row.drift,
  squares: row.driftSquares,
  slack: row.driftSlack,
});

/**
 * Notes how many requests of each node an audit found right, and how close the close ones were. What is noted of a close node in the round that
 * was noted last changes nothing.
 *
 * @returns what the comparisons of each close node come to, this round's among them
 */
export async function noteAudited(
  db: Database,
  { round, nodes: right, mismatch }: AuditedNodes,
  now: number,
): Promise<Record<string, Mismatch>> {
  await writeAll(db, [
    ...Object.entries(right).map(([id, n]) =>
      db
        .update(nodes)
        .set({ audited: sql`audited + ${n}`, auditedAt: now })
        .where(eq(nodes.id, id)),
    ),
    ...Object.entries(mismatch).map(([id, { tokens, sum, most, drift, squares, slack }]) =>
      db
        .update(nodes)
        .set({
          comparedTokens: sql`compared_tokens + ${tokens}`,
          mismatchSum: sql`mismatch_sum + ${sum}`,
          mismatchMost: sql`max(mismatch_most, ${most})`,
          drift: sql`drift + ${drift}`,
          driftSquares: sql`drift_squares + ${squares}`,
          driftSlack: sql`drift_slack + ${slack}`,
          comparedRound: round,
        })
        .where(sql`id = ${id} AND compared_round IS NOT ${round}`),
    ),
  ]);
  const compared = Object.keys(mismatch);
  const rows = compared.length ? await nodesOf(db, compared) : [];
  return Object.fromEntries(rows.map((row) => [row.id, mismatchOf(row)]));
}

/** All nodes in the order in which they were made. */
export async function listNodes(db: Database, now: number): Promise<NodeAnswer[]> {
  // A node asks twice a second: what waits for so long is what the nodes that are idle do not take.
  const waiting = db
    .selectDistinct({ engine: work.engine })
    .from(work)
    .where(
      sql`${work.state} = 'open' AND ${work.createdAt} < ${now - LIVE_MS}
        AND EXISTS (SELECT 1 FROM rounds WHERE rounds.id = ${work.round} AND state IN ('proposing', 'rollout'))`,
    )
    .orderBy(work.engine);
  const listed = db
    .select({
      row: nodes,
      leased: sql<number>`(SELECT count(*) FROM work WHERE work.state = 'leased' AND work.node = nodes.id
        AND work.leased_until >= ${now} AND EXISTS (SELECT 1 FROM rounds WHERE rounds.id = work.round AND state IN ${openRounds}))`,
    })
    .from(nodes)
    .orderBy(asc(nodes.createdAt))
    .limit(1000);
  const [rows, left] = await db.batch([listed, waiting]);
  return rows.map(({ row, leased }) => {
    const { revokedAt, shutOutAt, seenAt } = row;
    const live = seenAt !== null && seenAt > now - LIVE_MS;
    const state =
      shutOutAt !== null
        ? 'shut-out'
        : revokedAt !== null
          ? 'revoked'
          : (row.reads ?? (leased ? 'working' : live ? 'idle' : 'away'));
    const { id, name, exactness, seesGold, kind, threads, createdAt, reason } = row;
    const { requests, samples, tokens, lost, audited, auditedAt } = row;
    const done = { requests, samples, tokens, lost, audited, auditedAt, mismatch: mismatchOf(row) };
    const is = { id, name, exactness, seesGold, kind, threads, createdAt, reason, state } as const;
    // What it may not have is not what it leaves.
    const open = seesGold ? left : left.filter((request) => !showsGold(request));
    const leaves = state === 'idle' ? open.map(({ engine }) => engine) : [];
    return { ...is, ...done, seenAt: seenAt || null, leased, leaves };
  });
}
