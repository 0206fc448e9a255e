/** Stores the files of versions that are not committed yet, each in one request or, where it is large, in parts that are then joined; and the objects of tasks. */
import { type Context, Hono } from 'hono';
import type * as v from 'valibot';
import {
  type missingTasks,
  type storedFile,
  type storedPart,
  type storedTasks,
  tasksOrder,
  type UploadState,
  uploadOrder,
} from '../../core/schema/answers.ts';
import { MAX_FILE_BYTES, MAX_TASKS_BYTES, PART_BYTES, storedName } from '../../core/schema/policy.ts';
import { partText, versionText } from '../../core/schema/queries.ts';
import { name } from '../../core/schema/sample.ts';
import { isSettled } from '../store/pending-manifest.ts';
import { findMissing, putTasks } from '../store/stored-tasks.ts';
import { beginUpload, joinParts, putPart, type Uploaded } from '../store/uploads.ts';
import { putVersionFile } from '../store/version-objects.ts';
import { check, readJsonBody } from './body.ts';
import { learnerOnly } from './guards.ts';
import { HttpError } from './http-error.ts';
import { hashHeader } from './parameters.ts';
import type { GatewayTypes } from './services.ts';

/** The file, or shard of one, that path and header name. */
const uploadedOf = (c: Context<GatewayTypes>): Uploaded => ({
  ref: {
    name: check(name, c.req.param('name'), 'policy.name'),
    version: check(versionText, c.req.param('n'), 'version.number'),
  },
  object: check(storedName, c.req.param('file'), 'version.file'),
  sha256: check(hashHeader, c.req.header('x-sha256'), 'version.sha256'),
});

const settledNow = ({ var: { services } }: Context<GatewayTypes>, { ref }: Uploaded) =>
  isSettled(services.db, services.bucket, ref);

/** The body as a stream, whose length R2 has to know. */
function bodyOf(c: Context<GatewayTypes>, most: number, next?: string) {
  const length = c.req.header('content-length');
  if (length === undefined || !c.req.raw.body)
    throw new HttpError(411, 'body.length', 'The length of the body is not known.', {
      expected: 'a content-length header',
    });
  if (Number(length) > most) throw tooLarge(most, next);
  return { body: c.req.raw.body, length: Number(length) };
}

const tooLarge = (most: number, next = 'Send a larger file as shards, and name them in the manifest.') =>
  new HttpError(413, 'body.size', 'The body is too large.', { expected: `at most ${most} bytes`, next });

export const uploadRoutes = new Hono<GatewayTypes>()
  .put('/:file', learnerOnly, async (c) => {
    const uploaded = uploadedOf(c);
    const { ref, object, sha256 } = uploaded;
    const { body } = bodyOf(c, MAX_FILE_BYTES);
    const settled = await settledNow(c, uploaded);
    const result = await putVersionFile(c.var.services.bucket, ref, object, body, { sha256, settled });
    return c.json<v.InferOutput<typeof storedFile>>(
      { file: object, result },
      result === 'stored' ? 201 : 200,
    );
  })
  .post('/:file/parts', learnerOnly, async (c) => {
    const uploaded = uploadedOf(c);
    const { bytes } = await readJsonBody(c.req.raw, uploadOrder, 1024);
    if (bytes > MAX_FILE_BYTES) throw tooLarge(MAX_FILE_BYTES);
    const parts = await beginUpload(c.var.services.bucket, uploaded, bytes, await settledNow(c, uploaded));
    return c.json<UploadState>({
      file: uploaded.object,
      result: parts ? 'open' : 'same',
      partBytes: PART_BYTES,
      parts: [...(parts ?? [])],
    });
  })
  .put('/:file/parts/:part', learnerOnly, async (c) => {
    const uploaded = uploadedOf(c);
    const part = check(partText, c.req.param('part'), 'upload.part');
    const { body, length } = bodyOf(c, PART_BYTES, 'Cut the object into parts of this length.');
    const result = await putPart(c.var.services.bucket, uploaded, part, body, length);
    return c.json<v.InferOutput<typeof storedPart>>(
      { file: uploaded.object, part, result },
      result === 'stored' ? 201 : 200,
    );
  })
  .post('/:file/parts/join', learnerOnly, async (c) => {
    const uploaded = uploadedOf(c);
    const result = await joinParts(c.var.services.bucket, uploaded, await settledNow(c, uploaded));
    return c.json<v.InferOutput<typeof storedFile>>(
      { file: uploaded.object, result },
      result === 'stored' ? 201 : 200,
    );
  });

export const taskRoutes = new Hono<GatewayTypes>()
  .post('/missing', learnerOnly, async (c) => {
    const { sha256 } = await readJsonBody(c.req.raw, tasksOrder, 64 * 1024);
    const missing = await findMissing(c.var.services.bucket, sha256);
    return c.json<v.InferOutput<typeof missingTasks>>({ missing });
  })
  .put('/:sha256', learnerOnly, async (c) => {
    const sha256 = check(hashHeader, c.req.param('sha256'), 'tasks.sha256');
    const { body } = bodyOf(c, MAX_TASKS_BYTES, 'Send the tasks in smaller objects.');
    const result = await putTasks(c.var.services.bucket, sha256, body);
    return c.json<v.InferOutput<typeof storedTasks>>({ result }, result === 'stored' ? 201 : 200);
  });
