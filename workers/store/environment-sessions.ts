/**
 * The sessions of environments that the mesh serves: an object each, with the task and the calls so far. They are no part of any run, so that
 * nothing but their own routes reads them, and they go away by themselves when nobody asks for them any more.
 */
import type { R2Bucket } from '@cloudflare/workers-types';
import * as v from 'valibot';
import { sha256Hex } from '../../core/random.ts';
import { count } from '../../core/schema/numbers.ts';
import { readJsonObject } from './objects.ts';

const PREFIX = 'sessions/';

const sessionSchema = v.object({
  environment: v.string(),
  split: v.picklist(['train', 'test']),
  index: count,
  calls: v.array(v.object({ name: v.string(), input: v.record(v.string(), v.unknown()) })),
});
export type EnvironmentSession = v.InferOutput<typeof sessionSchema>;

/** Callers choose the names, so none of them becomes a key. */
const keyOf = (name: string): string => `${PREFIX}${sha256Hex(new TextEncoder().encode(name))}.json`;

/** Removes the sessions that were not heard of since `since`. @returns how many there are besides; of more than 1000 it counts 1000 */
export async function pruneSessions(bucket: R2Bucket, since: number): Promise<number> {
  const { objects } = await bucket.list({ prefix: PREFIX, limit: 1000 });
  const old = objects.filter(({ uploaded }) => uploaded.getTime() < since).map(({ key }) => key);
  if (old.length) await bucket.delete(old);
  return objects.length - old.length;
}

/** @returns the session and the moment of its last call; null where there is none */
export async function readSession(
  bucket: R2Bucket,
  name: string,
  since: number,
): Promise<{ readonly session: EnvironmentSession; readonly etag: string } | null> {
  const found = await readJsonObject(bucket, keyOf(name), sessionSchema);
  if (!found || found.uploaded.getTime() < since) return null;
  return { session: found.value, etag: found.etag };
}

/**
 * Writes a session over the one with this etag, or begins it where that is null. An isolate that dies before this has changed nothing, and one that
 * dies after it has lost nothing.
 * @returns false where somebody else has written it since
 */
export async function writeSession(
  bucket: R2Bucket,
  name: string,
  session: EnvironmentSession,
  etag: string | null,
): Promise<boolean> {
  const onlyIf = etag === null ? { etagDoesNotMatch: '*' } : { etagMatches: etag };
  return (await bucket.put(keyOf(name), JSON.stringify(session), { onlyIf })) !== null;
}

export const deleteSession = (bucket: R2Bucket, name: string): Promise<void> => bucket.delete(keyOf(name));
