/** Reads and writes JSON objects in R2 under derived keys. Reading checks the schema; an object that does not match is reported as damaged. */
import type { R2Bucket } from '@cloudflare/workers-types';
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import { longSha256Hex } from '../../core/random.ts';

const JSON_TYPE = { httpMetadata: { contentType: 'application/json' } };

const bytesOf = (value: unknown) => new Uint8Array(new TextEncoder().encode(JSON.stringify(value)));

/** Writes an object. Its key and content are both derived, so writing it again writes the same bytes. @returns the sha256 of the bytes */
export async function putJson(bucket: R2Bucket, key: string, value: unknown): Promise<string> {
  const bytes = bytesOf(value);
  const sha256 = await longSha256Hex(bytes);
  await bucket.put(key, bytes, { ...JSON_TYPE, sha256 });
  return sha256;
}

const hex = (bytes: ArrayBuffer) =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** The sha256 of a stored object's bytes, as R2 computed it; null if there is no object. */
export async function storedSha256(bucket: R2Bucket, key: string): Promise<string | null> {
  const sha256 = (await bucket.head(key))?.checksums.sha256;
  return sha256 ? hex(sha256) : null;
}

/** What is stored beside an object, to be read with it. */
type Metadata = { readonly attempt?: string };

/** Creates an object and never overwrites one. @returns false if the key exists already; its object is left as it is */
export async function putJsonOnce(
  bucket: R2Bucket,
  key: string,
  value: unknown,
  customMetadata: Metadata = {},
): Promise<boolean> {
  const bytes = bytesOf(value);
  const put = await bucket.put(key, bytes, {
    ...JSON_TYPE,
    customMetadata,
    sha256: await longSha256Hex(bytes),
    onlyIf: { etagDoesNotMatch: '*' },
  });
  return put !== null;
}

/** Creates an object, or finds that it is there with the same bytes. @returns false if another is there; it is left as it is */
export async function putJsonFirst(bucket: R2Bucket, key: string, value: unknown): Promise<boolean> {
  const bytes = bytesOf(value);
  const sha256 = await longSha256Hex(bytes);
  const put = await bucket.put(key, bytes, { ...JSON_TYPE, sha256, onlyIf: { etagDoesNotMatch: '*' } });
  return put !== null || (await storedSha256(bucket, key)) === sha256;
}

/**
 * Writes an object over the one that was written at `at`, or creates it if that is null.
 * @returns false if somebody else has written there since; nothing is changed then
 */
export async function putJsonOver(
  bucket: R2Bucket,
  key: string,
  value: unknown,
  at: Date | null,
  customMetadata: Metadata = {},
): Promise<boolean> {
  if (at === null) return putJsonOnce(bucket, key, value, customMetadata);
  const bytes = bytesOf(value);
  // By time and not by etag, which stays the same if the same bytes are written again.
  const onlyIf = { uploadedBefore: new Date(at.getTime() + 1) };
  const put = await bucket.put(key, bytes, {
    ...JSON_TYPE,
    customMetadata,
    sha256: await longSha256Hex(bytes),
    onlyIf,
  });
  return put !== null;
}

/** The object, or null if there is none. Throws `give-up` if it does not match the schema. */
export async function readJson<S extends v.GenericSchema>(
  bucket: R2Bucket,
  key: string,
  schema: S,
): Promise<v.InferOutput<S> | null> {
  return (await readJsonObject(bucket, key, schema))?.value ?? null;
}

/** `readJson`, with when the object was written, by which etag it is written over, and what is stored beside it. */
export async function readJsonObject<S extends v.GenericSchema>(
  bucket: R2Bucket,
  key: string,
  schema: S,
): Promise<{
  readonly value: v.InferOutput<S>;
  readonly uploaded: Date;
  readonly etag: string;
  readonly metadata: Metadata;
} | null> {
  const object = await bucket.get(key);
  if (!object) return null;
  const text = await object.text();
  try {
    const { uploaded, etag, customMetadata: metadata = {} } = object;
    return { value: v.parse(schema, JSON.parse(text)), uploaded, etag, metadata };
  } catch (cause) {
    throw new RollmeshError('give-up', 'object.damaged', `The object ${key} cannot be read.`, {
      expected: 'JSON as the mesh wrote it',
      next: 'Find who else writes to this bucket; replay the message after the object is removed.',
      cause,
    });
  }
}
