/**
 * Decides which versions of a policy are kept, and removes the other files of those that are not. A version's row and manifest stay for
 * ever, so that its number is not used again and the chain of parents still says what each version contains. One statement decides and marks
 * the versions as pruned, so a round that begins at the same moment is either seen by it or finds the version pruned.
 */
import type { R2Bucket } from '@cloudflare/workers-types';
import { type SQL, sql } from 'drizzle-orm';
import { type Database, openRounds, writeAll } from './database.ts';
import { abortUploads } from './uploads.ts';
import { versionKey } from './version-objects.ts';
import { MANIFEST } from './versions.ts';

export const DAY_MS = 24 * 3600 * 1000;

export interface RetentionRule {
  /** How many versions are kept in the chain of parents that ends at the current version; the current one counts as the first. */
  readonly keep: number;
  /** How long a withdrawn version is kept, in ms, so that someone can find out what was wrong with it. */
  readonly withdrawnMs: number;
}

export interface JudgedVersion {
  readonly policy: string;
  readonly version: number;
  readonly bytes: number;
  /** Why it is kept, in words; null if nothing names it. */
  readonly kept: string | null;
}

/** How many versions are pruned at most in one call of the clock. */
const AT_ONCE = 50;
/** The most objects that one call of the object store lists or deletes. */
const DELETED_AT_ONCE = 1000;

/**
 * Selects every version that is not pruned, with the reason why it is kept. A version may be named by the pointer; by a pinned role, a
 * reference model or a fork (version 0); by the chain of recent parents; by a round that is open, or that failed as the last of its run,
 * since a replay opens it again; and by the next rounds of a run whose roles use older versions (`lag`, `refreshEvery`, `sampleFrom`)
 * or that is rounds ahead of its training. One that stores the weights of another is kept as long as that one.
 */
const judged = (policy: string | null, { keep, withdrawnMs }: RetentionRule, now: number): SQL => sql`
  WITH RECURSIVE recent(policy, version, place) AS (
    SELECT name, current, 1 FROM policies
    UNION ALL
    SELECT recent.policy, versions.parent, place + 1 FROM recent
      JOIN versions ON versions.policy = recent.policy AND versions.version = recent.version
      WHERE versions.parent IS NOT NULL AND place < max(${keep}, 1 + coalesce(
        (SELECT max(coalesce(settings->>'ahead', 0)) FROM runs WHERE settings->>'policy' = recent.policy), 0))
  ), named(policy, version) AS (
    SELECT role.value->>'name', role.value->>'version' FROM rounds, json_each(rounds.spec, '$.roles') AS role
      WHERE rounds.state IN ${openRounds}
        OR (rounds.state = 'failed' AND NOT EXISTS
          (SELECT 1 FROM rounds AS later WHERE later.run = rounds.run
            AND later.idx > rounds.idx + coalesce(rounds.spec->>'$.settings.ahead', 0)))
  ), judging(policy, version) AS (
    SELECT role.value->>'$.fixed.name', role.value->>'$.fixed.version' FROM runs, json_each(runs.roles) AS role
      WHERE role.type = 'object' AND role.value->>'$.fixed.name' IS NOT NULL
  ), lagging(policy, oldest) AS (
    SELECT name, min(current - coalesce(runs.settings->>'ahead', 0) - coalesce(role.value->>'lag', 0)
        - coalesce(role.value->>'refreshEvery', 1) + 1 - coalesce(role.value->>'sampleFrom', 1) + 1)
      FROM policies JOIN runs ON runs.settings->>'policy' = name, json_each(runs.roles) AS role
      WHERE role.type = 'object' GROUP BY name
  )
  SELECT policy, version, bytes, CASE
    WHEN EXISTS (SELECT 1 FROM policies WHERE name = own.policy AND current = own.version) THEN 'the current version'
    WHEN version = 0 THEN 'where the policy began'
    WHEN (policy, version) IN (SELECT policy, version FROM named) THEN 'a round names it'
    WHEN (policy, version) IN (SELECT policy, version FROM judging) THEN 'a run is judged by it'
    WHEN EXISTS (SELECT 1 FROM versions AS other, json_each(other.elsewhere) AS holder
        WHERE other.policy = own.policy AND other.pruned_at IS NULL AND holder.value = own.version)
      THEN 'it stores files of a later version'
    WHEN withdrawn IS NULL AND EXISTS (SELECT 1 FROM lagging WHERE policy = own.policy AND oldest <= own.version)
      THEN 'a role lags so far behind'
    WHEN withdrawn IS NULL AND (policy, version) IN (SELECT policy, version FROM recent) THEN 'a recent parent'
    WHEN withdrawn IS NOT NULL AND coalesce(withdrawn_at, created_at) > ${now - withdrawnMs}
      THEN ${`withdrawn less than ${withdrawnMs / DAY_MS} days ago`}
    END AS kept
  FROM versions AS own
  WHERE pruned_at IS NULL AND (${policy} IS NULL OR policy = ${policy})`;

/** What the rule would do to each version, oldest first; `policy` null means all policies. */
export const judgeVersions = (
  db: Database,
  policy: string | null,
  rule: RetentionRule,
  now: number,
): Promise<JudgedVersion[]> =>
  db.all<JudgedVersion>(sql`${judged(policy, rule, now)} ORDER BY policy, version`);

/** Marks versions that nothing names as pruned; from now on they are refused. @returns how many were marked */
export async function takeUnnamed(
  db: Database,
  policy: string | null,
  rule: RetentionRule,
  now: number,
): Promise<number> {
  const [taken] = await writeAll(db, [
    sql`UPDATE versions SET pruned_at = ${now} WHERE (policy, version) IN
      (SELECT policy, version FROM (${judged(policy, rule, now)}) WHERE kept IS NULL ORDER BY version LIMIT ${AT_ONCE})`,
  ]);
  return taken!;
}

/** Versions that are marked as pruned and still have files: those just marked, or those that a crash left behind. */
export const takenVersions = (db: Database): Promise<Omit<JudgedVersion, 'kept'>[]> =>
  db.all(
    sql`SELECT policy, version, bytes FROM versions WHERE pruned_at IS NOT NULL AND bytes > 0 LIMIT ${AT_ONCE}`,
  );

/** Removes all objects of a pruned version but its manifest, also those that nobody committed, and ends uploads that were begun. It is safe to repeat. */
export async function removeFiles(
  db: Database,
  bucket: R2Bucket,
  { policy, version }: Pick<JudgedVersion, 'policy' | 'version'>,
): Promise<void> {
  const prefix = versionKey({ name: policy, version }, '');
  for (let more = true; more; ) {
    const { objects, truncated } = await bucket.list({ prefix, limit: DELETED_AT_ONCE });
    const removed = objects.map(({ key }) => key).filter((key) => key !== `${prefix}${MANIFEST}`);
    await abortUploads(bucket, removed);
    if (removed.length) await bucket.delete(removed);
    more = truncated;
  }
  await writeAll(db, [sql`UPDATE versions SET bytes = 0 WHERE policy = ${policy} AND version = ${version}`]);
}
