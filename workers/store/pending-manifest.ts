/**
 * The manifest of a version that is about to be committed. Its hash is noted in the database before it is written to the object store, so
 * that after a crash it can be told from one that somebody else put there.
 */
import type { R2Bucket } from '@cloudflare/workers-types';
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { type Manifest, manifestSha256 } from '../../core/schema/policy.ts';
import type { Database } from './database.ts';
import { putJsonOver } from './objects.ts';
import { canFollow, getVersion, noteCommit, notedCommit } from './policies.ts';
import { contended, versionKey } from './version-objects.ts';
import { MANIFEST, readManifest } from './versions.ts';

/**
 * The manifest that was noted and is stored, and whose version is not committed yet, but can be; null if there is none. One that was
 * refused at the last moment, since its round was stopped or its parent rolled back, keeps nobody from the version's number.
 */
export async function pendingManifest(
  db: Database,
  bucket: R2Bucket,
  ref: PolicyRef,
): Promise<Manifest | null> {
  const noted = await notedCommit(db, ref);
  if (noted === null || (await getVersion(db, ref))) return null;
  const stored = await storedAs(bucket, ref, noted);
  return stored && (await canFollow(db, stored)) ? stored : null;
}

/** The stored manifest if its hash is this one; null if it is another one, cannot be read, or is not there. */
async function storedAs(bucket: R2Bucket, ref: PolicyRef, sha256: string): Promise<Manifest | null> {
  const stored = await readManifest(bucket, ref).catch((error: unknown) => {
    if (error instanceof RollmeshError && error.code === 'object.damaged') return null;
    throw error;
  });
  return stored && manifestSha256(stored) === sha256 ? stored : null;
}

/** Is the version committed, or about to be, so that its files must not change any more? */
export const isSettled = async (db: Database, bucket: R2Bucket, ref: PolicyRef): Promise<boolean> =>
  (await getVersion(db, ref)) !== undefined || (await pendingManifest(db, bucket, ref)) !== null;

/**
 * Notes the manifest in the database and writes it over whatever the object store holds in its place. Throws `version.contended` of kind
 * `retry` if somebody else writes another one at this moment.
 */
export async function writeManifest(db: Database, bucket: R2Bucket, manifest: Manifest): Promise<void> {
  const ref = { name: manifest.policy, version: manifest.version };
  const key = versionKey(ref, MANIFEST);
  const [there, seen] = await Promise.all([bucket.head(key), notedCommit(db, ref)]);
  if (!(await noteCommit(db, manifest, seen))) throw contended(key);
  if (await putJsonOver(bucket, key, manifest, there?.uploaded ?? null)) return;
  // Two orders at once begin the same policy with the same manifest.
  if (!(await storedAs(bucket, ref, manifestSha256(manifest)))) throw contended(key);
}
