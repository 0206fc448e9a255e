/** The rows of policies and versions. A policy's pointer to its current version moves last, by compare-and-set. */
import { and, asc, desc, eq, inArray, or, sql } from 'drizzle-orm';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { type Manifest, manifestSha256, objectsOf, weightsSha256 } from '../../core/schema/policy.ts';
import { manifestKey, namedVersions, otherRefs, type RoundSpec } from '../../core/schema/round.ts';
import { type Database, openRounds, writeAll } from './database.ts';
import { insertRound } from './runs.ts';
import { commits, policies, versions } from './schema.ts';

export type PolicyRow = typeof policies.$inferSelect;
export type VersionRow = typeof versions.$inferSelect;

export const listPolicies = (db: Database): Promise<PolicyRow[]> =>
  db.select().from(policies).orderBy(asc(policies.name)).limit(1000);

export const getPolicy = async (db: Database, name: string): Promise<PolicyRow | undefined> =>
  (await db.select().from(policies).where(eq(policies.name, name)))[0];

/** The versions of a policy, newest first. */
export const versionsOf = (db: Database, name: string, limit: number): Promise<VersionRow[]> =>
  db.select().from(versions).where(eq(versions.policy, name)).orderBy(desc(versions.version)).limit(limit);

export const getVersion = async (db: Database, ref: PolicyRef): Promise<VersionRow | undefined> =>
  (
    await db
      .select()
      .from(versions)
      .where(and(eq(versions.policy, ref.name), eq(versions.version, ref.version)))
  )[0];

/** Those versions named by a round, from which its samples are drawn, that are committed. */
export const versionsOfRound = (db: Database, spec: RoundSpec) =>
  db
    .select()
    .from(versions)
    .where(
      or(
        and(eq(versions.policy, spec.settings.policy), inArray(versions.version, namedVersions(spec))),
        ...otherRefs(spec).map(({ name, version }) =>
          and(eq(versions.policy, name), eq(versions.version, version)),
        ),
      ),
    )
    .orderBy(asc(versions.version));

/** The hashes of the manifests by `manifestKey`. */
export const manifestsOf = (spec: RoundSpec, rows: readonly VersionRow[]): Record<string, string> =>
  Object.fromEntries(
    rows.map(({ policy: name, version, manifestSha256: sha256 }) => [
      manifestKey(spec, { name, version }),
      sha256,
    ]),
  );

/** The hash of the manifest that was noted for a version's commit; null if none was. */
export const notedCommit = async (db: Database, ref: PolicyRef): Promise<string | null> =>
  (
    await db
      .select()
      .from(commits)
      .where(and(eq(commits.policy, ref.name), eq(commits.version, ref.version)))
  )[0]?.manifestSha256 ?? null;

/**
 * Notes that this manifest is about to be written to the object store. `seen`: the hash that was noted before, null for none.
 * @returns false if another one has been noted since, or the version is committed with another
 */
export async function noteCommit(db: Database, manifest: Manifest, seen: string | null): Promise<boolean> {
  const { policy, version } = manifest;
  const sha256 = manifestSha256(manifest);
  const [noted] = await writeAll(db, [
    sql`INSERT INTO commits (policy, version, manifest_sha256)
        SELECT ${policy}, ${version}, ${sha256}
        WHERE NOT EXISTS (SELECT 1 FROM versions
          WHERE policy = ${policy} AND version = ${version} AND manifest_sha256 IS NOT ${sha256})
        ON CONFLICT DO UPDATE SET manifest_sha256 = ${sha256} WHERE manifest_sha256 IN (${seen}, ${sha256})`,
  ]);
  return noted === 1;
}

/** Is this the manifest that was noted for its version's commit? */
const isNoted = (manifest: Manifest) => sql`EXISTS (SELECT 1 FROM commits WHERE policy = ${manifest.policy}
  AND version = ${manifest.version} AND manifest_sha256 = ${manifestSha256(manifest)})`;

/**
 * Can the version follow as the policy and its round are now: the pointer is at its parent, or there is no policy yet; the round waits for
 * it, and no earlier round of its run is open?
 */
const fits = ({
  policy,
  parent,
  round,
}: Manifest) => sql`(SELECT current FROM policies WHERE name = ${policy}) IS ${parent}
  AND (${round} IS NULL OR EXISTS (SELECT 1 FROM rounds WHERE id = ${round} AND state = 'training'))
  AND NOT EXISTS (SELECT 1 FROM rounds AS own JOIN rounds AS earlier
    ON earlier.run = own.run AND earlier.idx < own.idx AND earlier.state IN ${openRounds} WHERE own.id = ${round})`;

/** Could this manifest be committed now, if it is the one that was noted? */
export const canFollow = async (db: Database, manifest: Manifest): Promise<boolean> =>
  (await db.all(sql`SELECT 1 WHERE ${fits(manifest)}`)).length === 1;

const objectsIn = ({ files, version }: Manifest) =>
  Object.entries(files).flatMap(([file, entry]) => objectsOf(file, entry, version));

/** The bytes that the version itself stores. */
const bytesOf = (manifest: Manifest) =>
  objectsIn(manifest).reduce(
    (sum, { version, bytes }) => sum + (version === manifest.version ? bytes : 0),
    0,
  );

/** The versions that store files of this one, as the column has them. */
const elsewhereOf = (manifest: Manifest): string | null => {
  const others = objectsIn(manifest).flatMap(({ version }) =>
    version === manifest.version ? [] : [version],
  );
  return others.length ? JSON.stringify([...new Set(others)].sort((a, b) => a - b)) : null;
};

/** Creates a policy with its version 0. @returns false if the policy exists already, or if another manifest was noted for it */
export async function createPolicy(db: Database, manifest: Manifest, now: number): Promise<boolean> {
  const { policy, version, parent, round } = manifest;
  const [created] = await writeAll(db, [
    sql`INSERT INTO policies (name, current, updated_at) SELECT ${policy}, ${version}, ${now}
        WHERE ${isNoted(manifest)} ON CONFLICT DO NOTHING`,
    sql`INSERT INTO versions (policy, version, parent, round, bytes, manifest_sha256, weights_sha256, created_at)
        SELECT ${policy}, ${version}, ${parent}, ${round}, ${bytesOf(manifest)}, ${manifestSha256(manifest)},
          ${weightsSha256(manifest)}, ${now}
        WHERE ${isNoted(manifest)} ON CONFLICT DO NOTHING`,
  ]);
  return created === 1;
}

/**
 * Ends a round in one transaction: the pointer moves from `parent` to `version`, the round becomes done, its groups become
 * trained, and the next rounds are inserted. Every statement after the first takes effect only if the version is this round's,
 * so neither a lost race nor a repetition changes anything.
 * @returns false if the version was not inserted: the pointer is elsewhere, the round is over, an earlier round of its run is not, it
 * was committed before, or another manifest was noted for it
 */
export async function commitVersion(
  db: Database,
  manifest: Manifest,
  next: readonly RoundSpec[],
  now: number,
): Promise<boolean> {
  const { policy, version, parent, round } = manifest;
  const committed = sql`EXISTS (SELECT 1 FROM versions WHERE policy = ${policy} AND version = ${version}
    AND round IS ${round} AND manifest_sha256 = ${manifestSha256(manifest)})`;
  const [inserted] = await writeAll(db, [
    sql`INSERT INTO versions (policy, version, parent, round, bytes, elsewhere, manifest_sha256, weights_sha256, created_at)
        SELECT ${policy}, ${version}, ${parent}, ${round}, ${bytesOf(manifest)}, ${elsewhereOf(manifest)},
          ${manifestSha256(manifest)}, ${weightsSha256(manifest)}, ${now}
        WHERE ${isNoted(manifest)} AND ${fits(manifest)}
        ON CONFLICT DO NOTHING`,
    db
      .update(policies)
      .set({ current: version, updatedAt: now })
      .where(and(eq(policies.name, policy), sql`current IS ${parent}`, committed)),
    sql`UPDATE rounds SET state = 'done', version = ${version}, ended_at = ${now}, touched_at = ${now}
        WHERE id = ${round} AND state = 'training' AND ${committed}`,
    sql`UPDATE groups SET state = 'trained'
        FROM json_each(${JSON.stringify(manifest.groups)}) AS trained
        WHERE groups.round = ${round} AND groups.id = trained.value AND groups.state = 'scored' AND ${committed}`,
    ...next.map((spec) => insertRound(spec, now)),
  ]);
  return inserted === 1;
}

/** The version number that the next commit must have. Numbers of withdrawn versions are never used again. */
export async function nextVersion(db: Database, name: string): Promise<number> {
  const [newest] = await versionsOf(db, name, 1);
  return newest ? newest.version + 1 : 0;
}
