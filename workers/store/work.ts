/** The rows of sampling requests that are offered to nodes. A row is leased by one caller at a time, and answered once. */
import { and, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm';
import { isPatch } from '../../core/images/patches.ts';
import type { WorkerStage } from '../../core/round/stages.ts';
import { MAIN_SET, weightsFile } from '../../core/schema/policy.ts';
import {
  type LeaseOrder,
  type RoundShares,
  type RoundWork,
  type SamplingRequest,
  weightsHash,
} from '../../core/schema/work.ts';
import { type Database, runAll, type Statement, writeAll } from './database.ts';
import { isPausedRound } from './pause.ts';
import { nodes, work } from './schema.ts';

export type WorkRow = typeof work.$inferSelect;

/** What stands for the group of a round's proposals. */
export const PROPOSALS = 'proposals';

/** Where the completions of a request are stored: by the lease too, so that a late answer never replaces a sealed one. */
export const resultKey = ({ round, id, lease }: Pick<WorkRow, 'round' | 'id' | 'lease'>): string =>
  `rounds/${round}/work/${id}-${lease}.json`;

/** What a request needs in order to be computed, as the column `engine` has it. A node that knows no grammars, or no images, is given none. */
export const engineText = (
  engine: string | undefined,
  weights: string | undefined,
  grammar = false,
  images = false,
): string =>
  `${engine ?? 'onnx'} ${weights ?? 'float32'}${grammar ? ' grammar' : ''}${images ? ' images' : ''}`;

/** Ends the column `engine` of a request whose prompts hold gold: no node is given it but one whose token is for that. */
const GOLD = ' gold';
export const showsGold = ({ engine }: Pick<WorkRow, 'engine'>): boolean => engine.endsWith(GOLD);
const isGold = sql`(engine LIKE ${`%${GOLD}`})`;

export interface NewWork {
  readonly id: string;
  readonly group: string;
  readonly index: number;
  readonly request: SamplingRequest;
  /** Whether its prompts hold reference answers. */
  readonly gold?: boolean;
}

/** What is open for longer than this, and no node may have, the clock drives on, ms. */
const TAKEN_MS = 15_000;

/** Inserted together; one JSON parameter carries them, since D1 takes 100 parameters a statement and 2 MB a parameter. */
const AT_ONCE = 100;
const CHARACTERS_AT_ONCE = 1_000_000;

/**
 * Offers requests to nodes. One that was there already is left as it is, unless it was closed. `attempt`: the round's, as the caller knows
 * it; if a part of the round has been begun again since, nothing is offered.
 */
export async function putUp(
  db: Database,
  round: string,
  stage: WorkerStage,
  requests: readonly NewWork[],
  now: number,
  attempt = 0,
): Promise<void> {
  const rows = requests.map(
    ({ id, group, index, gold, request: { policy, prompts, settings }, request }) => ({
      id,
      group,
      index,
      request: JSON.stringify(request),
      engine:
        engineText(
          policy.engine,
          policy.weights,
          settings.grammar !== undefined,
          prompts.some(({ ids }) => ids.some(isPatch)),
        ) + (gold ? GOLD : ''),
      samples: prompts.reduce((sum, { sampleIds }) => sum + sampleIds.length, 0),
    }),
  );
  for (const some of cut(rows))
    await writeAll(db, [
      sql`INSERT INTO work (id, round, stage, grp, idx, request, engine, samples, state, created_at)
          SELECT value->>'id', ${round}, ${stage}, value->>'group', value->>'index', value->>'request', value->>'engine', value->>'samples', 'open', ${now}
          FROM json_each(${JSON.stringify(some)}) WHERE EXISTS (SELECT 1 FROM rounds WHERE id = ${round} AND attempt = ${attempt})
          ON CONFLICT (id) DO UPDATE SET state = 'open', engine = excluded.engine
          WHERE work.state = 'closed' OR (work.state = 'open' AND work.engine <> excluded.engine)`,
    ]);
}

/** Cuts rows into parts of so many rows and characters, at least one row each. */
function cut<Row extends { readonly request: string }>(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [];
  let characters = 0;
  for (const row of rows) {
    const part = parts.at(-1);
    characters += row.request.length;
    if (part && part.length < AT_ONCE && characters <= CHARACTERS_AT_ONCE) part.push(row);
    else {
      parts.push([row]);
      characters = row.request.length;
    }
  }
  return parts;
}

/** The requests of some groups of a stage. */
export const workOf = (db: Database, round: string, stage: WorkerStage, groups: readonly string[]) =>
  db
    .select()
    .from(work)
    .where(
      and(
        eq(work.round, round),
        eq(work.stage, stage),
        sql`${work.group} IN (SELECT value FROM json_each(${JSON.stringify(groups)}))`,
      ),
    );

export const getWork = async (db: Database, id: string): Promise<WorkRow | undefined> =>
  (await db.select().from(work).where(eq(work.id, id)))[0];

/** Statements that open again what was leased and not answered in time, and count it as lost by the node that held it. */
const takeBackExpired = (now: number) =>
  [
    sql`UPDATE nodes SET lost = lost + (SELECT count(*) FROM work WHERE state = 'leased' AND leased_until < ${now} AND node = nodes.id)
        WHERE EXISTS (SELECT 1 FROM work WHERE state = 'leased' AND leased_until < ${now} AND node = nodes.id)`,
    sql`UPDATE work SET state = 'open', node = NULL, lease = NULL, leased_until = NULL
        WHERE state = 'leased' AND leased_until < ${now}`,
  ] as const;

/** Whether a close node's answer can be scored again: sampled at temperature 1 without truncation, and without a grammar. As `leaseStatements` asks D1. */
export const isScorable = ({
  settings: { temperature, topP = 1, topK = 0, grammar },
}: SamplingRequest): boolean => temperature === 1 && topP === 1 && topK === 0 && grammar === undefined;

export interface Lease {
  /** null = an isolate. */
  readonly node: string | null;
  readonly lease: string;
  /** As `engineText` gives them; null = all. With gold as well, for an isolate and a node whose token is for that. */
  readonly engines: readonly string[] | null;
  /** Only requests with gold. */
  readonly gold?: boolean;
  /** Only requests that can be scored again: sampled at temperature 1 without truncation. */
  readonly close?: boolean;
  /** Only requests of this version's main set; with `adapters` also those whose adapter is over its weights. */
  readonly serves?: LeaseOrder['serves'] | undefined;
  /** At most so many, or as many as the statement `limit` gives. */
  readonly limit: number | SQL;
  readonly until: number;
  /** Only requests of this stage of a round and these groups; absent = of all open rounds. */
  readonly of?: { readonly round: string; readonly stage: WorkerStage; readonly groups: readonly string[] };
}

export interface LeasedWork
  extends Pick<WorkRow, 'id' | 'round' | 'group' | 'request' | 'engine' | 'samples'> {
  /** Of the request's JSON. */
  readonly characters: number;
}

/** Whether a node's token lets it have a request: a condition of rows of `work`. */
export const allowedTo = (node: string): SQL =>
  sql`(NOT ${isGold} OR EXISTS (SELECT 1 FROM nodes WHERE nodes.id = ${node} AND nodes.sees_gold))`;

/** Leases the oldest requests that are open; of any number of callers, each gets others. */
export const leaseWork = async (db: Database, lease: Lease, now: number): Promise<LeasedWork[]> =>
  leasedOf((await runAll(db, leaseStatements(lease, now))).at(-1)!);

/** Statements of which the last one leases, and returns what `leasedOf` reads. `provided`: a condition. */
export function leaseStatements(
  { node, lease, engines, gold = false, close = false, serves, limit, until, of }: Lease,
  now: number,
  provided: SQL = sql`true`,
): readonly Statement[] {
  const texts = engines?.flatMap((text) => [text, text + GOLD]);
  const engine = texts ? sql`engine IN (SELECT value FROM json_each(${JSON.stringify(texts)}))` : sql`true`;
  const allowed = node === null ? sql`true` : allowedTo(node);
  const only = gold ? isGold : sql`true`;
  const place = of
    ? sql`round = ${of.round} AND stage = ${of.stage} AND grp IN (SELECT value FROM json_each(${JSON.stringify(of.groups)}))`
    : sql`true`;
  const scorable = close
    ? sql`request->>'$.settings.temperature' = 1 AND coalesce(request->>'$.settings.topP', 1) = 1 AND coalesce(request->>'$.settings.topK', 0) = 0`
    : sql`true`;
  const itself = serves
    ? sql`(request->>'$.policy.version' = ${serves.version} AND coalesce(request->>'$.policy.set', ${MAIN_SET}) = ${MAIN_SET})`
    : sql`true`;
  const over = serves?.adapters
    ? sql`(request->>'$.weights.version' = ${serves.version} AND request->>'$.weights.file' = ${weightsFile()})`
    : itself;
  const served = serves ? sql`request->>'$.policy.name' = ${serves.name} AND ${over}` : sql`true`;
  return [
    ...takeBackExpired(now),
    sql`UPDATE work SET state = 'leased', node = ${node}, lease = ${lease}, leased_until = ${until}
        WHERE ${provided} AND id IN (SELECT id FROM work WHERE state = 'open' AND ${engine} AND ${allowed} AND ${only} AND ${place} AND ${scorable} AND ${served}
          AND EXISTS (SELECT 1 FROM rounds WHERE rounds.id = work.round AND rounds.state IN ('proposing', 'rollout'))
          AND NOT ${isPausedRound(sql`work.round`)}
          ORDER BY created_at, idx, id LIMIT ${limit}) AND state = 'open'
        RETURNING id, round, grp, request, engine, samples, created_at, idx`,
  ];
}

export function leasedOf({ results }: { readonly results: readonly unknown[] }): LeasedWork[] {
  type Row = {
    id: string;
    round: string;
    grp: string;
    request: string;
    engine: string;
    samples: number;
    created_at: number;
    idx: number;
  };
  return (results as Row[])
    .toSorted((a, b) => a.created_at - b.created_at || a.idx - b.idx || (a.id < b.id ? -1 : 1))
    .map(({ id, round, grp, request, engine, samples }) => ({
      id,
      round,
      group: grp,
      request: JSON.parse(request) as SamplingRequest,
      engine,
      samples,
      characters: request.length,
    }));
}

/** What a node holds under all its leases, those included that ended a moment ago. */
export const heldBy = (db: Database, node: string) =>
  db
    .select()
    .from(work)
    .where(and(eq(work.state, 'leased'), eq(work.node, node)));

/** Prolongs a lease. @returns how many requests it still holds */
export async function prolong(
  db: Database,
  node: string,
  lease: string,
  now: number,
  until: number,
): Promise<number> {
  const [held] = await writeAll(db, [
    sql`UPDATE work SET leased_until = ${until}
        WHERE state = 'leased' AND node = ${node} AND lease = ${lease} AND leased_until >= ${now}`,
  ]);
  return held!;
}

/** Opens what a node holds again: all of it, or that of one lease. */
export const releaseOf = (node: string, lease?: string) =>
  sql`UPDATE work SET state = 'open', node = NULL, lease = NULL, leased_until = NULL
      WHERE state = 'leased' AND node = ${node} AND (${lease ?? null} IS NULL OR lease = ${lease ?? null})`;

/** Statements that open what is leased of a round that shows no progress, and count it as lost by those who held it. */
export const releaseRound = (round: string) =>
  [
    sql`UPDATE nodes SET lost = lost + (SELECT count(*) FROM work WHERE round = ${round} AND state = 'leased' AND node = nodes.id)
        WHERE EXISTS (SELECT 1 FROM work WHERE round = ${round} AND state = 'leased' AND node = nodes.id)`,
    sql`UPDATE work SET state = 'open', node = NULL, lease = NULL, leased_until = NULL WHERE round = ${round} AND state = 'leased'`,
  ] as const;

/** Opens one request again that an isolate leased and has no time for. */
export const releaseWork = (db: Database, id: string, lease: string) =>
  writeAll(db, [
    sql`UPDATE work SET state = 'open', node = NULL, lease = NULL, leased_until = NULL
        WHERE id = ${id} AND state = 'leased' AND lease = ${lease}`,
  ]);

/** Leaves no more of a request that an isolate has leased than what it has time for. */
export const shortenWork = (
  db: Database,
  id: string,
  lease: string,
  request: SamplingRequest,
  samples: number,
) =>
  writeAll(db, [
    sql`UPDATE work SET request = ${JSON.stringify(request)}, samples = ${samples}
        WHERE id = ${id} AND state = 'leased' AND lease = ${lease}`,
  ]);

/** Opens a request again whose answer cannot be read. */
export const reopenWork = async (db: Database, id: string, lease: string): Promise<void> => {
  await writeAll(db, [
    sql`UPDATE work SET state = 'open', node = NULL, lease = NULL, sha256 = NULL, seal = NULL
        WHERE id = ${id} AND state = 'done' AND lease = ${lease}`,
  ]);
};

/** What a lease of a node holds of these requests now. */
export const underLease = (held: readonly WorkRow[], lease: string, now: number): WorkRow[] =>
  held.filter((row) => row.lease === lease && row.leasedUntil !== null && row.leasedUntil >= now);

export interface Answer {
  readonly id: string;
  readonly sha256: string;
  readonly seal: string | null;
  readonly samples: number;
  readonly tokens: number;
}

/** Whose answers they are; `node` is null for an isolate. */
export interface AnsweredLease {
  readonly round: string;
  readonly node: string | null;
  readonly lease: string;
}

/** What the message that continues a group says. */
export type WaitingGroup = Pick<WorkRow, 'round' | 'stage' | 'group' | 'index'>;

/**
 * Notes results of one round, each if its request is still under the lease. `first`: statements that are run before, with the condition that
 * one of them is.
 * @returns the requests whose results were taken, and the groups among theirs that wait for no other request
 */
export async function noteAnswers(
  db: Database,
  { round, node, lease }: AnsweredLease,
  answers: readonly Answer[],
  now: number,
  first: (held: SQL) => readonly Statement[] = () => [],
): Promise<{ readonly taken: ReadonlySet<string>; readonly whole: readonly WaitingGroup[] }> {
  const ids = sql`(SELECT value FROM json_each(${JSON.stringify(answers.map(({ id }) => id))}))`;
  // A node's time ends with its lease; what an isolate computes is good until somebody else has leased it.
  const own = sql`work.state = 'leased' AND work.lease = ${lease} AND work.node IS ${node} AND (work.node IS NULL OR work.leased_until >= ${now})`;
  const before = first(sql`EXISTS (SELECT 1 FROM work WHERE id IN ${ids} AND ${own})`);
  const results = await runAll(db, [
    ...before,
    // A node whose answers are not taken does not keep its round from being redriven.
    sql`UPDATE rounds SET touched_at = ${now}, redrives = 0 WHERE id = ${round} AND EXISTS (SELECT 1 FROM work WHERE id IN ${ids} AND ${own})`,
    sql`UPDATE nodes SET requests = nodes.requests + made.n, samples = nodes.samples + made.samples, tokens = nodes.tokens + made.tokens, seen_at = ${now}
        FROM (SELECT count(*) AS n, sum(value->>'samples') AS samples, sum(value->>'tokens') AS tokens
          FROM json_each(${JSON.stringify(answers.map(({ id, samples, tokens }) => ({ work: id, samples, tokens })))})
          WHERE EXISTS (SELECT 1 FROM work WHERE work.id = value->>'work' AND ${own})) AS made
        WHERE nodes.id = ${node} AND made.n > 0`,
    sql`UPDATE work SET state = 'done', leased_until = NULL, sha256 = made.sha256, seal = made.seal
        FROM (SELECT value->>'id' AS work, value->>'sha256' AS sha256, value->>'seal' AS seal
          FROM json_each(${JSON.stringify(answers.map(({ id, sha256, seal }) => ({ id, sha256, seal })))})) AS made
        WHERE work.id = made.work AND ${own} RETURNING id`,
    sql`SELECT DISTINCT round, stage, grp, idx FROM work WHERE id IN ${ids}
          AND (stage, grp) NOT IN (SELECT stage, grp FROM work WHERE round = ${round} AND state IN ('open', 'leased'))`,
  ]);
  const [, , noted, whole] = results.slice(before.length);
  const taken = new Set((noted!.results as { id: string }[]).map(({ id }) => id));
  if (!taken.size) return { taken, whole: [] };
  type Row = { round: string; stage: WorkerStage; grp: string; idx: number };
  return {
    taken,
    whole: (whole!.results as Row[]).map(({ grp, idx, ...row }) => ({ ...row, group: grp, index: idx })),
  };
}

/** Closes what nobody needs any more of groups that are done. */
export const closeWork = (db: Database, round: string, stage: WorkerStage, groups: readonly string[]) =>
  writeAll(db, [
    sql`UPDATE work SET state = 'closed', node = NULL, lease = NULL, leased_until = NULL
        WHERE round = ${round} AND stage = ${stage} AND state IN ('open', 'leased')
          AND grp IN (SELECT value FROM json_each(${JSON.stringify(groups)}))`,
  ]);

/**
 * What the clock drives on, with takes-back of what dead nodes held: groups with requests that were taken back now, and those with an open request
 * that no node may lease: any where there are no nodes, one with gold where none of them is exact and may have gold.
 */
export async function takeBack(
  db: Database,
  now: number,
  { live, exactGold }: { readonly live: boolean; readonly exactGold: boolean },
): Promise<WaitingGroup[]> {
  // What was put up a moment ago is taken by the isolate that put it up.
  const left = !live ? sql`true` : exactGold ? sql`false` : sql`${isGold} AND created_at < ${now - TAKEN_MS}`;
  const [expired, , , open] = await runAll(db, [
    sql`SELECT DISTINCT round, stage, grp, idx FROM work WHERE state = 'leased' AND leased_until < ${now} LIMIT 1000`,
    ...takeBackExpired(now),
    sql`SELECT DISTINCT round, stage, grp, idx FROM work WHERE ${left} AND state = 'open'
        AND EXISTS (SELECT 1 FROM rounds WHERE rounds.id = work.round AND rounds.state IN ('proposing', 'rollout')) LIMIT 1000`,
  ]);
  type Found = { round: string; stage: WorkerStage; grp: string; idx: number };
  const found = new Map(
    [...(expired!.results as Found[]), ...(open!.results as Found[])].map((row) => [
      `${row.round} ${row.stage} ${row.grp}`,
      row,
    ]),
  );
  return [...found.values()].map(({ grp, idx, ...row }) => ({ ...row, group: grp, index: idx }));
}

/** Who sampled how much of a round. */
export async function sharesOf(db: Database, round: string): Promise<RoundShares['shares']> {
  const done = sql<number>`sum(${work.state} = 'done')`;
  const rows = await db
    .select({
      node: work.node,
      name: nodes.name,
      requests: done,
      samples: sql<number>`sum((${work.state} = 'done') * ${work.samples})`,
      leased: sql<number>`sum(${work.state} = 'leased')`,
      // As texts: whether what json_extract returns is taken for JSON or for a text depends on how the rows were grouped.
      versions: sql<string>`json_group_array(DISTINCT json_extract(${work.request}, '$.policy') || '')`,
    })
    .from(work)
    .leftJoin(nodes, eq(nodes.id, work.node))
    .where(and(eq(work.round, round), inArray(work.state, ['done', 'leased'])))
    .groupBy(work.node)
    .orderBy(nodes.createdAt);
  return rows.map(({ versions, ...row }) => ({
    ...row,
    versions: (JSON.parse(versions) as string[]).map((ref) => JSON.parse(ref)),
  }));
}

/** What nodes returned of a round, without the isolates' share. */
export async function nodeWorkOf(db: Database, round: string): Promise<RoundWork> {
  // Two queries: D1 mixes up columns of the same name in a join.
  const rows = await db
    .select()
    .from(work)
    .where(and(eq(work.round, round), eq(work.state, 'done'), isNotNull(work.node)));
  const ids = [...new Set(rows.map(({ node }) => node!))];
  const of = ids.length ? await nodesOf(db, ids) : [];
  return {
    nodes: of.map(({ id, name, exactness, publicKey, audited }) => ({
      id,
      name,
      exactness,
      publicKey,
      audited,
    })),
    work: rows.map(({ id, node, lease, stage, group, request, sha256, seal }) => ({
      id,
      node: node!,
      lease: lease!,
      stage,
      group: group === PROPOSALS ? null : group,
      samples: request.prompts.flatMap(({ sampleIds }) => sampleIds),
      settings: request.settings,
      weights: weightsHash(request),
      sha256: sha256!,
      seal: seal!,
    })),
  };
}

export const nodesOf = (db: Database, ids: readonly string[]) =>
  db
    .select()
    .from(nodes)
    .where(sql`${nodes.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`);

/**
 * Removes the rows of rounds that ended before a time, fifty rounds a call: nobody audits them here any more. What close nodes returned stays,
 * since an audit has to know of which samples it may not ask for the same bits.
 */
export const forgetWork = (db: Database, before: number) =>
  writeAll(db, [
    sql`DELETE FROM work WHERE round IN (SELECT DISTINCT round FROM work JOIN rounds ON rounds.id = work.round WHERE rounds.ended_at < ${before} AND ${forgettable} LIMIT 50)
        AND ${forgettable}`,
  ]);

const forgettable = sql`NOT (work.state = 'done' AND coalesce(work.node, '') IN (SELECT id FROM nodes WHERE exactness = 'close'))`;
