/** Reads versions as they were committed: the database says by which manifest, so that none in the object store can be exchanged. */
import type { R2Bucket } from '@cloudflare/workers-types';
import type { PolicyRef } from '../../core/policy/policy.ts';
import type { Manifest, VersionFile, VersionFiles } from '../../core/schema/policy.ts';
import type { Database } from '../store/database.ts';
import { getVersion } from '../store/policies.ts';
import { committedManifest, loadVersion } from '../store/versions.ts';

export interface VersionStore {
  readonly db: Database;
  readonly bucket: R2Bucket;
}

/** The hash of the manifest by which the version was committed; null where the database has none. */
const notedManifest = async ({ db }: VersionStore, ref: PolicyRef): Promise<string | null> =>
  (await getVersion(db, ref))?.manifestSha256 ?? null;

/** The manifest by which a version was committed; kept in the isolate where the database confirmed it, as versions never change. */
export async function manifestOf(store: VersionStore, ref: PolicyRef): Promise<Manifest> {
  const key = `${ref.name}@${ref.version}`;
  const known = manifests.get(key);
  if (known) return known;
  const hash = notedManifest(store, ref);
  const found = await committedManifest(store.bucket, ref, hash);
  if ((await hash) === null) return found;
  if (manifests.size >= KEPT_MANIFESTS) manifests.clear();
  manifests.set(key, found);
  return found;
}
const KEPT_MANIFESTS = 64;
const manifests = new Map<string, Manifest>();

/** Loads a version's files as they were committed; the database gives the hash of the manifest. */
export const loadCommitted = (
  store: VersionStore,
  ref: PolicyRef,
  files: readonly VersionFile[],
): Promise<VersionFiles> => loadVersion(store.bucket, ref, files, notedManifest(store, ref));
