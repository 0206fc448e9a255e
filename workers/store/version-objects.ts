/**
 * The objects that hold the files of versions. None is ever written over, so that what a manifest was verified against stays as it is: other
 * bytes under a name that is taken, as a learner left them that ended or lost a race, are stored beside it under their hash.
 */
import type { R2Bucket, R2Object, R2ObjectBody, ReadableStream } from '@cloudflare/workers-types';
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { keys } from '../../core/schema/round.ts';

export const versionKey = ({ name, version }: PolicyRef, object: string) =>
  keys.version(name, version, object);

/** Where bytes are stored whose key was taken. */
const besideKey = (key: string, sha256: string) => `${key}.${sha256}`;

/** The hash that R2 computed of an object's bytes when it stored them. */
export const hashOf = (object: R2Object | null): string | undefined => {
  const bytes = object?.checksums.sha256;
  return bytes && [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** What is stored under the key with this hash; where there is none, what else is stored there. */
export async function headObject(bucket: R2Bucket, key: string, sha256: string): Promise<R2Object | null> {
  const first = await bucket.head(key);
  return hashOf(first) === sha256 ? first : ((await bucket.head(besideKey(key, sha256))) ?? first);
}

/** `headObject`, with the bytes. */
export async function getObject(bucket: R2Bucket, key: string, sha256: string): Promise<R2ObjectBody | null> {
  const first = await bucket.get(key);
  if (hashOf(first) === sha256) return first;
  const beside = await bucket.get(besideKey(key, sha256));
  if (!beside) return first;
  await first?.body.cancel();
  return beside;
}

/**
 * Stores one file, or one shard of a file, of a version that is not committed yet. `settled`: is the version committed, or about to be?
 * @returns `stored`, or `same` if these bytes were stored already
 */
export async function putVersionFile(
  bucket: R2Bucket,
  ref: PolicyRef,
  object: string,
  body: ReadableStream,
  { sha256, settled }: { readonly sha256: string; readonly settled: boolean },
): Promise<'stored' | 'same'> {
  const key = versionKey(ref, object);
  const before = await headObject(bucket, key, sha256);
  if (hashOf(before) === sha256) {
    await body.cancel();
    return 'same';
  }
  if (settled) {
    await body.cancel();
    throw committedAlready(ref);
  }
  const put = await bucket
    .put(before ? besideKey(key, sha256) : key, body, {
      sha256,
      httpMetadata: { contentType: 'application/octet-stream' },
      onlyIf: { etagDoesNotMatch: '*' },
    })
    .catch((cause: unknown) => {
      throw HASH_MISMATCH.test(String(cause)) ? otherBytes(object, sha256, cause) : cause;
    });
  if (put) return 'stored';
  // Somebody else stored it at the same moment.
  if (hashOf(await headObject(bucket, key, sha256)) === sha256) return 'same';
  throw contended(key);
}

export const contended = (key: string) =>
  new RollmeshError('retry', 'version.contended', `Someone else is writing ${key}.`, {
    next: 'See that only one learner serves this policy, then try again.',
  });

/** R2 reports another hash in the text of its error, with the code 10037. */
export const HASH_MISMATCH = /checksum|10037/i;

const otherBytes = (file: string, sha256: string, cause: unknown) =>
  new RollmeshError(
    'wrong-input',
    'version.hash',
    `The bytes of ${file} are not those of the header x-sha256.`,
    {
      expected: `sha256 ${sha256}`,
      next: 'Send the file again.',
      cause,
    },
  );

export const committedAlready = (ref: PolicyRef) =>
  new RollmeshError(
    'give-up',
    'version.committed',
    `Version ${ref.version} of ${ref.name} is committed with other contents.`,
    { expected: 'a new version number', next: 'Read the policy again and go on from its current version.' },
  );
