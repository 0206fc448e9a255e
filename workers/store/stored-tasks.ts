/** The objects of tasks in R2, each under the hash of its bytes: none is written over, and runs on the same files share them. */
import type { R2Bucket, ReadableStream } from '@cloudflare/workers-types';
import { RollmeshError } from '../../core/errors.ts';
import { MOST_PIXMAP_BYTES, readPixmap } from '../../core/images/image.ts';
import { keys } from '../../core/schema/round.ts';
import { HASH_MISMATCH } from './version-objects.ts';

/**
 * The bytes of an object.
 * @throws RollmeshError `tasks.missing` of kind `retry` where it is not stored: whoever ordered the run may store it yet
 */
export async function readTasks(bucket: R2Bucket, sha256: string): Promise<Uint8Array<ArrayBuffer>> {
  const object = await bucket.get(keys.tasks(sha256));
  if (object) return new Uint8Array(await object.arrayBuffer());
  throw new RollmeshError('retry', 'tasks.missing', `The object of tasks ${sha256} is not stored.`, {
    next: 'Start the run again with the same --tasks, or name its module at `rollmesh deploy --recipe`: either stores what is missing.',
  });
}

/** The bytes of an image as a pixmap; null where none of that hash is stored. What is stored beside images, such as tasks with their answers, is none. */
export async function readImage(bucket: R2Bucket, sha256: string): Promise<Uint8Array<ArrayBuffer> | null> {
  const object = await bucket.get(keys.tasks(sha256));
  if (!object) return null;
  if (object.size > MOST_PIXMAP_BYTES) {
    await object.body.cancel();
    return null;
  }
  const bytes = new Uint8Array(await object.arrayBuffer());
  return readPixmap(bytes) && bytes;
}

/** Those of the objects that are not stored. */
export async function findMissing(bucket: R2Bucket, hashes: readonly string[]): Promise<string[]> {
  const heads = await Promise.all(hashes.map((sha256) => bucket.head(keys.tasks(sha256))));
  return hashes.filter((_, i) => heads[i] === null);
}

/** The images that this isolate has stored, or found stored, lately. */
const storedImages = new Set<string>();
const NOTED_IMAGES = 4096;

/** Stores an image that this isolate drew. */
export async function storeImage(bucket: R2Bucket, sha256: string, bytes: Uint8Array): Promise<void> {
  if (storedImages.has(sha256)) return;
  const key = keys.tasks(sha256);
  if (!(await bucket.head(key)))
    await bucket.put(key, bytes, { sha256, httpMetadata: { contentType: 'application/octet-stream' } });
  if (storedImages.size >= NOTED_IMAGES) storedImages.clear();
  storedImages.add(sha256);
}

/** Stores an object. @returns `stored`, or `same` if it was stored already */
export async function putTasks(
  bucket: R2Bucket,
  sha256: string,
  body: ReadableStream,
): Promise<'stored' | 'same'> {
  const key = keys.tasks(sha256);
  if (await bucket.head(key)) {
    await body.cancel();
    return 'same';
  }
  try {
    await bucket.put(key, body, { sha256, httpMetadata: { contentType: 'application/octet-stream' } });
    return 'stored';
  } catch (cause) {
    if (!HASH_MISMATCH.test(String(cause))) throw cause;
    throw new RollmeshError('wrong-input', 'tasks.hash', 'The bytes are not those of the hash in the path.', {
      expected: `sha256 ${sha256}`,
      next: 'Send the object again.',
      cause,
    });
  }
}
