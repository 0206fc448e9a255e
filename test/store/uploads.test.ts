/** Uploads in parts where calls meet or are cut off between two steps. Objects are small here: an upload may have one part of any length. */
import { createHash } from 'node:crypto';
import type { R2Bucket, R2MultipartUpload } from '@cloudflare/workers-types';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { beginUpload, joinParts, putPart, type Uploaded } from '../../workers/store/uploads.ts';
import { openStore } from './fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const uploadedOf = (policy: string, text: string): Uploaded => ({
  ref: { name: policy, version: 0 },
  object: 'optimizer.safetensors',
  sha256: sha256(text),
});
type Body = Parameters<typeof putPart>[3];
const put = (bucket: R2Bucket, uploaded: Uploaded, text: string) =>
  putPart(bucket, uploaded, 1, new Response(text).body as unknown as Body, text.length);
const keysUnder = async (policy: string) =>
  (await store.bucket.list({ prefix: `policies/${policy}/` })).objects.map(({ key }) => key);
const textOf = async (policy: string) =>
  (await store.bucket.get(`policies/${policy}/0/optimizer.safetensors`))?.text();

/** The bucket with some of its calls replaced. */
const withCalls = (calls: Partial<R2Bucket>): R2Bucket => ({ ...store.bucket, ...calls });
/** The bucket, in which something happens around the completing of an upload. */
const completing = (around: (complete: () => Promise<unknown>) => Promise<never>): R2Bucket =>
  withCalls({
    resumeMultipartUpload: (key, id) => {
      const upload = store.bucket.resumeMultipartUpload(key, id);
      const complete: R2MultipartUpload['complete'] = (parts) => around(() => upload.complete(parts));
      return { ...upload, complete };
    },
  });
const ended = () => {
  throw new Error('completeMultipartUpload: The specified multipart upload does not exist. (10024)');
};

test('what somebody else completes at the same moment is joined', async () => {
  const uploaded = uploadedOf('met', 'some bytes');
  expect(await beginUpload(store.bucket, uploaded, 10, false)).toEqual([]);
  expect(await put(store.bucket, uploaded, 'some bytes')).toBe('stored');
  const late = completing(async (complete) => {
    await complete();
    return ended();
  });
  expect(await joinParts(late, uploaded, false)).toBe('stored');
  expect(await keysUnder('met')).toEqual(['policies/met/0/optimizer.safetensors']);
  expect(await textOf('met')).toBe('some bytes');
});

test('what somebody else has stored meanwhile is the same', async () => {
  const uploaded = uploadedOf('stored', 'some bytes');
  await beginUpload(store.bucket, uploaded, 10, false);
  await put(store.bucket, uploaded, 'some bytes');
  const later = completing(async () => {
    expect(await joinParts(store.bucket, uploaded, false)).toBe('stored');
    return ended();
  });
  expect(await joinParts(later, uploaded, false)).toBe('same');
  expect(await keysUnder('stored')).toEqual(['policies/stored/0/optimizer.safetensors']);
});

test('of two who begin at once one upload is left, with the parts of both', async () => {
  const uploaded = uploadedOf('begun', 'some bytes');
  const made: R2MultipartUpload[] = [];
  const first = withCalls({
    createMultipartUpload: async (key) => {
      const upload = await store.bucket.createMultipartUpload(key);
      made.push(upload);
      // Somebody else begins between this and the note of it.
      await beginUpload(store.bucket, uploaded, 10, false);
      return upload;
    },
  });
  expect(await beginUpload(first, uploaded, 10, false)).toEqual([]);
  await expect(made[0]!.uploadPart(1, 'some bytes')).rejects.toThrow('10024');
  expect(await put(store.bucket, uploaded, 'some bytes')).toBe('stored');
  expect(await joinParts(store.bucket, uploaded, false)).toBe('stored');
});

test('a call that was cut off after a step is completed by the next', async () => {
  const uploaded = uploadedOf('cut', 'some bytes');
  await beginUpload(store.bucket, uploaded, 10, false);
  await put(store.bucket, uploaded, 'some bytes');
  const cut = () => Promise.reject(new Error('cut off'));
  // Before the upload is completed, after it, and after the object is stored.
  await expect(joinParts(completing(cut), uploaded, false)).rejects.toThrow('cut off');
  await expect(joinParts(withCalls({ put: cut }), uploaded, false)).rejects.toThrow('cut off');
  expect(await textOf('cut')).toBe(undefined);
  await expect(joinParts(withCalls({ delete: cut }), uploaded, false)).rejects.toThrow('cut off');
  expect(await textOf('cut')).toBe('some bytes');
  expect(await joinParts(store.bucket, uploaded, false)).toBe('same');
  expect(await keysUnder('cut')).toEqual(['policies/cut/0/optimizer.safetensors']);
});

test('who names the hash with another length begins anew', async () => {
  const uploaded = uploadedOf('length', 'some bytes');
  await beginUpload(store.bucket, uploaded, 9, false);
  await put(store.bucket, uploaded, 'som bytes');
  expect(await beginUpload(store.bucket, uploaded, 10, false)).toEqual([]);
  await put(store.bucket, uploaded, 'some bytes');
  expect(await joinParts(store.bucket, uploaded, false)).toBe('stored');
});

test('what is joined after its version was committed is refused and removed', async () => {
  const uploaded = uploadedOf('late', 'some bytes');
  await beginUpload(store.bucket, uploaded, 10, false);
  await put(store.bucket, uploaded, 'some bytes');
  await expect(joinParts(store.bucket, uploaded, true)).rejects.toThrow('is committed with other contents');
  expect(await keysUnder('late')).toEqual([]);
});

/** The bucket, in which R2 no longer has the upload when a part arrives; before it says so, something else happens. */
const losingParts = (meanwhile: () => Promise<unknown>): R2Bucket =>
  withCalls({
    resumeMultipartUpload: (key, id) => ({
      ...store.bucket.resumeMultipartUpload(key, id),
      uploadPart: async () => {
        await meanwhile();
        throw new Error('uploadPart: The specified multipart upload does not exist. (10024)');
      },
    }),
  });

test('a part of an upload that has ended leaves the one alone that was begun anew', async () => {
  const uploaded = uploadedOf('anew', 'some bytes');
  await beginUpload(store.bucket, uploaded, 10, false);
  const late = losingParts(async () => {
    // As another part of the same upload does, whose sender then begins anew.
    await beginUpload(store.bucket, uploaded, 11, false);
    await beginUpload(store.bucket, uploaded, 10, false);
    await put(store.bucket, uploaded, 'some bytes');
  });
  await expect(put(late, uploaded, 'some bytes')).rejects.toMatchObject({ code: 'upload.unknown' });
  expect(await joinParts(store.bucket, uploaded, false)).toBe('stored');
  expect(await textOf('anew')).toBe('some bytes');
});

test('a late part leaves the object alone that somebody else has completed', async () => {
  const uploaded = uploadedOf('completed', 'some bytes');
  await beginUpload(store.bucket, uploaded, 10, false);
  const interrupted: R2Bucket = withCalls({ get: () => Promise.reject(new Error('cut off')) });
  const late = losingParts(async () => {
    await put(store.bucket, uploaded, 'some bytes');
    await expect(joinParts(interrupted, uploaded, false)).rejects.toThrow('cut off');
  });
  await expect(put(late, uploaded, 'some bytes')).rejects.toMatchObject({ code: 'upload.unknown' });
  expect(await joinParts(store.bucket, uploaded, false)).toBe('stored');
  expect(await textOf('completed')).toBe('some bytes');
});

test('a part that was noted for another upload counts for nothing', async () => {
  const uploaded = uploadedOf('noted', 'some bytes');
  await beginUpload(store.bucket, uploaded, 10, false);
  const [note] = await keysUnder('noted');
  const part = note!.replace(/upload$/, '1');
  await store.bucket.put(part, '', { customMetadata: { id: 'another', etag: 'another' } });
  expect(await beginUpload(store.bucket, uploaded, 10, false)).toEqual([]);
  expect(await put(store.bucket, uploaded, 'some bytes')).toBe('stored');
  expect(await joinParts(store.bucket, uploaded, false)).toBe('stored');
  expect(await keysUnder('noted')).toEqual(['policies/noted/0/optimizer.safetensors']);
});

test('a part that is stored again before it is noted again does not end the upload', async () => {
  const uploaded = uploadedOf('twice', 'some bytes');
  await beginUpload(store.bucket, uploaded, 10, false);
  await put(store.bucket, uploaded, 'some bytes');
  let calls = 0;
  const replaced = withCalls({
    resumeMultipartUpload: (key, id) => {
      const upload = store.bucket.resumeMultipartUpload(key, id);
      const complete: R2MultipartUpload['complete'] = (parts) => {
        if (++calls > 1) return upload.complete(parts);
        throw new Error('completeMultipartUpload: One or more parts could not be found. (10025)');
      };
      return { ...upload, complete: async (parts) => complete(parts) };
    },
  });
  expect(await joinParts(replaced, uploaded, false)).toBe('stored');
  expect([calls, await textOf('twice')]).toEqual([2, 'some bytes']);
});

test('an upload that R2 is about to end is begun anew', async () => {
  const uploaded = uploadedOf('old', 'some bytes');
  await beginUpload(store.bucket, uploaded, 10, false);
  await put(store.bucket, uploaded, 'some bytes');
  const inDays = (days: number) =>
    beginUpload(store.bucket, uploaded, 10, false, Date.now() + days * 86_400_000);
  expect(await inDays(5)).toEqual([1]);
  expect(await inDays(6.5)).toEqual([]);
});

test('an upload that is completed is not aborted', async () => {
  const uploaded = uploadedOf('joined', 'some bytes');
  await beginUpload(store.bucket, uploaded, 10, false);
  await put(store.bucket, uploaded, 'some bytes');
  const strict = withCalls({
    resumeMultipartUpload: (key, id) => ({
      ...store.bucket.resumeMultipartUpload(key, id),
      complete: (parts) => store.bucket.resumeMultipartUpload(key, id).complete(parts),
      abort: () =>
        Promise.reject(new Error('abortMultipartUpload: We encountered an internal error. (10001)')),
    }),
  });
  expect(await joinParts(strict, uploaded, false)).toBe('stored');
  expect(await keysUnder('joined')).toEqual(['policies/joined/0/optimizer.safetensors']);
});
