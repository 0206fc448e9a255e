/** What a node fetches as the body of an answer: a file, which is one stream of bytes also where it is stored in shards, or a delta of one. */
import type { R2Bucket, R2ObjectBody } from '@cloudflare/workers-types';
import type { PolicyRef } from '../../core/policy/policy.ts';
import type { StoredObject } from '../../core/schema/policy.ts';
import { getObject, versionKey } from '../store/version-objects.ts';
import { notFound } from './parameters.ts';

/**
 * The bytes of objects, one after another.
 * @throws HttpError 404 where the first is not stored; where a later one is missing, the stream ends with an error
 */
export async function fileBody(
  bucket: R2Bucket,
  name: PolicyRef['name'],
  objects: readonly StoredObject[],
): Promise<BodyInit> {
  const [first, ...rest] = objects;
  const open = async ({ name: object, version, sha256 }: StoredObject): Promise<R2ObjectBody> => {
    const stored = await getObject(bucket, versionKey({ name, version }, object), sha256);
    if (!stored) throw notFound('object', object);
    return stored;
  };
  const { body } = await open(first!);
  if (!rest.length) return body;
  const { readable, writable } = new FixedLengthStream(objects.reduce((sum, { bytes }) => sum + bytes, 0));
  const send = async () => {
    await body.pipeTo(writable, { preventClose: true });
    for (const object of rest) await (await open(object)).body.pipeTo(writable, { preventClose: true });
    await writable.close();
  };
  send().catch((error: unknown) => writable.abort(error).catch(() => undefined));
  return readable;
}
