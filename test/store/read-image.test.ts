/** What readers get under the hash of an image: a pixmap, and nothing of what is stored beside images. */
import type { R2Bucket } from '@cloudflare/workers-types';
import { expect, test } from 'vitest';
import { pixmap } from '../../core/images/image.ts';
import { readImage } from '../../workers/store/stored-tasks.ts';

const bucketWith = (bytes: Uint8Array<ArrayBuffer>, size = bytes.length) => {
  let cancelled = false;
  const object = {
    size,
    arrayBuffer: async () => bytes.buffer,
    body: {
      cancel: async () => {
        cancelled = true;
      },
    },
  };
  const get = async (key: string) => (key === `tasks/${'a'.repeat(64)}` ? object : null);
  return { bucket: { get } as unknown as R2Bucket, cancelled: () => cancelled };
};

test('an image is read, and tasks with their answers are not', async () => {
  const image = pixmap({ width: 2, height: 1, pixels: new Uint8Array(6) });
  expect(await readImage(bucketWith(image).bucket, 'a'.repeat(64))).toEqual(image);
  expect(await readImage(bucketWith(image).bucket, 'b'.repeat(64))).toBeNull();
  const tasks = new TextEncoder().encode('{"messages":[],"answer":"7"}\n');
  expect(await readImage(bucketWith(tasks).bucket, 'a'.repeat(64))).toBeNull();
});

test('what is larger than any image is not read at all', async () => {
  const large = bucketWith(new Uint8Array(), 13_000_000);
  expect(await readImage(large.bucket, 'a'.repeat(64))).toBeNull();
  expect(large.cancelled()).toBe(true);
});
