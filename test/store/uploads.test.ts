/** Uploads in parts where calls meet or are cut off between two steps. Objects are small here: an upload may have one part of any length. */
import { createHash } from 'node:crypto';
import type { R2Bucket, R2MultipartUpload } from '@cloudflare/workers-types';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { beginUpload, joinParts, putPart, type Uploaded } from '../../store/uploads.ts';
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
