/** What the mesh assumes of R2. */
import { bytesOf, type Check, check, hexOf, pause, same, sha256, thrown } from './check.ts';

const objects = 'workers/store/objects.ts';
const uploads = 'workers/store/uploads.ts';
const FIVE_MIB = 5 * 1024 * 1024;

export const R2: readonly Check[] = [
  check(
    'r2.create-only',
    'a put under If-None-Match: * writes nothing over',
    objects,
    'a version could be replaced',
    async (env, mark) => {
      const put = (text: string) =>
        env.BUCKET.put(mark, text, { onlyIf: new Headers({ 'if-none-match': '*' }) as never });
      same([(await put('first')) !== null, (await put('second')) !== null], [true, false]);
      same(await (await env.BUCKET.get(mark))!.text(), 'first');
    },
  ),
  check(
    'r2.checksum',
    'a put with another sha256 than that of its bytes is refused, and stores nothing',
    objects,
    'torn uploads would be stored',
    async (env, mark) => {
      await thrown(async () => env.BUCKET.put(mark, 'bytes', { sha256: await sha256(bytesOf('other')) }));
      same(await env.BUCKET.head(mark), null);
    },
  ),
  check(
    'r2.stored-checksum',
    'the sha256 of a put is told with the object',
    objects,
    'what is stored could not be compared without reading it',
    async (env, mark) => {
      const hash = await sha256(bytesOf('bytes'));
      await env.BUCKET.put(mark, 'bytes', { sha256: hash });
      same(hexOf((await env.BUCKET.head(mark))!.checksums.sha256), hash);
    },
  ),
  check(
    'r2.read-after-write',
    'what was put is read at once',
    objects,
    'the next stage would find nothing',
    async (env, mark) => {
      for (const text of ['one', 'two']) {
        await env.BUCKET.put(mark, text);
        same(await (await env.BUCKET.get(mark))!.text(), text);
      }
    },
  ),
  check(
    'r2.range',
    'a range of an object is read alone',
    'workers/gateway/file-body.ts',
    'shards would be read whole',
    async (env, mark) => {
      await env.BUCKET.put(mark, '0123456789');
      same(await (await env.BUCKET.get(mark, { range: { offset: 3, length: 4 } }))!.text(), '3456');
    },
  ),
  check(
    'r2.missing',
    'an object that is not there is null',
    objects,
    'errors would be told for absence',
    async (env, mark) => {
      same([await env.BUCKET.get(mark), await env.BUCKET.head(mark)], [null, null]);
    },
  ),
  check(
    'r2.list',
    'a list has pages, in order, under a prefix alone',
    'workers/store/shut-out.ts',
    'calls and versions would be left over',
    async (env, mark) => {
      await Promise.all([0, 1, 2, 3, 4].map((i) => env.BUCKET.put(`${mark}/${i}`, '')));
      await env.BUCKET.put(`${mark}x`, '');
      const keys: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await env.BUCKET.list({ prefix: `${mark}/`, limit: 2, ...(cursor ? { cursor } : {}) });
        keys.push(...page.objects.map(({ key }) => key));
        cursor = page.truncated ? page.cursor : undefined;
      } while (cursor);
      same(
        keys,
        [0, 1, 2, 3, 4].map((i) => `${mark}/${i}`),
      );
    },
  ),
  check(
    'r2.delete',
    'several keys are deleted in one call, missing ones among them',
    'workers/gateway/prune.ts',
    'retention would stop',
    async (env, mark) => {
      await env.BUCKET.put(`${mark}/a`, '');
      await env.BUCKET.delete([`${mark}/a`, `${mark}/none`]);
      same(await env.BUCKET.head(`${mark}/a`), null);
    },
  ),
  check(
    'r2.multipart',
    'parts are put together in the order of their numbers, whatever the order of their coming',
    uploads,
    'large weights would be torn',
    async (env, mark) => {
      const upload = await env.BUCKET.createMultipartUpload(mark);
      const second = await upload.uploadPart(2, 'end');
      const first = await upload.uploadPart(1, new Uint8Array(FIVE_MIB).fill(65));
      const { size } = await upload.complete([first, second]);
      same(size, FIVE_MIB + 3);
      same(await (await env.BUCKET.get(mark, { range: { suffix: 4 } }))!.text(), 'Aend');
    },
  ),
  check(
    'r2.abort',
    'an upload that is ended leaves no object',
    uploads,
    'half an upload could be read',
    async (env, mark) => {
      const upload = await env.BUCKET.createMultipartUpload(mark);
      await upload.uploadPart(1, 'part');
      same(await env.BUCKET.head(mark), null);
      await upload.abort();
      same(await env.BUCKET.head(mark), null);
    },
  ),
  check(
    'r2.resume',
    'an upload goes on by its id in another call',
    uploads,
    'an upload would begin anew after each crash',
    async (env, mark) => {
      const { uploadId } = await env.BUCKET.createMultipartUpload(mark);
      const part = await env.BUCKET.resumeMultipartUpload(mark, uploadId).uploadPart(1, 'part');
      same((await env.BUCKET.resumeMultipartUpload(mark, uploadId).complete([part])).size, 4);
    },
  ),
  check(
    'r2.one-creates',
    'of ten puts at once that may only create, one writes',
    objects,
    'two Workers would both think that theirs is stored',
    async (env, mark) => {
      const puts = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          env.BUCKET.put(mark, String(i), { onlyIf: { etagDoesNotMatch: '*' } }),
        ),
      );
      const written = puts.flatMap((put, i) => (put === null ? [] : [String(i)]));
      same(written.length, 1);
      same(await (await env.BUCKET.get(mark))!.text(), written[0]);
    },
  ),
  check(
    'r2.etag',
    'a put under the etag of what was there before writes nothing over what is there now',
    'workers/store/environment-sessions.ts',
    'two calls of an episode would both be its next',
    async (env, mark) => {
      const { etag } = (await env.BUCKET.put(mark, 'one'))!;
      const put = (text: string) => env.BUCKET.put(mark, text, { onlyIf: { etagMatches: etag } });
      same([(await put('two')) !== null, (await put('three')) !== null], [true, false]);
      same(await (await env.BUCKET.get(mark))!.text(), 'two');
    },
  ),
  check(
    'r2.uploaded-before',
    'a put under a time writes nothing over what was written after it',
    objects,
    'the newer record of two would be lost',
    async (env, mark) => {
      const { uploaded } = (await env.BUCKET.put(mark, 'one'))!;
      const put = (text: string) =>
        env.BUCKET.put(mark, text, { onlyIf: { uploadedBefore: new Date(uploaded.getTime() + 1) } });
      // R2 tells times to the ms: what is written next has to be later.
      await pause(20);
      same([(await put('two')) !== null, (await put('three')) !== null], [true, false]);
      same(await (await env.BUCKET.get(mark))!.text(), 'two');
    },
  ),
  check(
    'r2.metadata',
    'what is stored beside an object is told with it',
    objects,
    'whose attempt wrote a record would be unknown',
    async (env, mark) => {
      const customMetadata = { attempt: 'a1' };
      await env.BUCKET.put(mark, '{}', { customMetadata, httpMetadata: { contentType: 'application/json' } });
      for (const found of [await env.BUCKET.get(mark), await env.BUCKET.head(mark)])
        same([found!.customMetadata, found!.httpMetadata?.contentType], [customMetadata, 'application/json']);
    },
  ),
  check(
    'r2.empty',
    'an object may have no bytes',
    'workers/store/version-objects.ts',
    'an empty file could not be stored',
    async (env, mark) => {
      await env.BUCKET.put(mark, new Uint8Array());
      same([(await env.BUCKET.head(mark))!.size, await (await env.BUCKET.get(mark))!.text()], [0, '']);
    },
  ),
  check(
    'r2.stream',
    'a stream of a known length is stored as it comes',
    uploads,
    'files would have to be held whole',
    async (env, mark) => {
      const { readable, writable } = new FixedLengthStream(6);
      const writing = (async () => {
        const writer = writable.getWriter();
        for (const piece of ['one', 'two']) await writer.write(bytesOf(piece));
        await writer.close();
      })();
      await Promise.all([env.BUCKET.put(mark, readable as never), writing]);
      same(await (await env.BUCKET.get(mark))!.text(), 'onetwo');
    },
  ),
  check(
    'r2.part-again',
    'a part that is sent again takes the place of the first one',
    uploads,
    'a part that broke off would stay broken',
    async (env, mark) => {
      const upload = await env.BUCKET.createMultipartUpload(mark);
      await upload.uploadPart(1, 'first');
      await upload.complete([await upload.uploadPart(1, 'second')]);
      same(await (await env.BUCKET.get(mark))!.text(), 'second');
    },
  ),
  check(
    'r2.part-missing',
    'an upload is not put together with a part that never came',
    uploads,
    'half a file would be stored',
    async (env, mark) => {
      const upload = await env.BUCKET.createMultipartUpload(mark);
      const part = await upload.uploadPart(1, 'part');
      await thrown(() => upload.complete([part, { partNumber: 2, etag: part.etag }]));
      same(await env.BUCKET.head(mark), null);
      await upload.abort().catch(() => undefined);
    },
  ),
];
