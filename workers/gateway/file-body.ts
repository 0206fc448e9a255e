/** A stored file as the body of an answer: one stream of bytes, also where the file is stored in shards. */
import type { R2Bucket, R2ObjectBody } from '@cloudflare/workers-types';
import type { PolicyRef } from '../../core/policy.ts';
import { objectsOf } from '../../core/schema/policy.ts';
import type { LeasedFile } from '../../core/schema/work.ts';
import { versionKey } from '../../store/versions.ts';
import { notFound } from './parameters.ts';

/** @throws HttpError 404 where the file, or its first shard, is not stored; where a later one is missing, the stream ends with an error */
export async function fileBody(
  bucket: R2Bucket,
  name: PolicyRef['name'],
  file: LeasedFile,
): Promise<BodyInit> {
  const [first, ...rest] = objectsOf(file.file, file).map((object) => object.name);
  const open = async (object: string): Promise<R2ObjectBody> => {
    const stored = await bucket.get(versionKey({ name, version: file.version }, object));
    if (!stored) throw notFound('object', object);
    return stored;
  };
  const { body } = await open(first!);
  if (!rest.length) return body;
  const { readable, writable } = new FixedLengthStream(file.bytes);
  const send = async () => {
    await body.pipeTo(writable, { preventClose: true });
    for (const object of rest) await (await open(object)).body.pipeTo(writable, { preventClose: true });
    await writable.close();
  };
  send().catch((error: unknown) => writable.abort(error).catch(() => undefined));
  return readable;
}
