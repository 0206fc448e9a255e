/** Versions in R2: nothing that is torn, swapped, forged or late is ever stored under a manifest or loaded by one. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import { getDeadLetter, letterId, storeDeadLetter, UNKNOWN_CAUSE } from '../../store/dead-letters.ts';
import { putJsonOnce } from '../../store/objects.ts';
import { loadVersion, putVersionFile, streamFile, verifyFiles, versionKey } from '../../store/versions.ts';
import { manifestOf, openStore } from './fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const weights = new TextEncoder().encode('weights');
const config = new TextEncoder().encode('{}');
const body = (bytes: Uint8Array) => new Response(bytes.slice()).body as never;
const put = (
  name: string,
  file: 'config.json' | 'model.safetensors',
  bytes: Uint8Array,
  hash = sha256(bytes),
) => store.bucket.put(`policies/${name}/0/${file}`, bytes, { sha256: hash });
const manifest = (name: string) =>
  manifestOf(name, 0, {
    files: {
      'config.json': { sha256: sha256(config), bytes: config.length },
      'model.safetensors': { sha256: sha256(weights), bytes: weights.length },
    },
  });
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'resolved',
    (error: unknown) => (error instanceof RollmeshError ? `${error.kind} ${error.code}` : String(error)),
  );

test('a manifest is refused until every file is there with its size and hash', async () => {
  const name = 'verify';
  await put(name, 'config.json', config);
  expect(await codeOf(verifyFiles(store.bucket, manifest(name)))).toBe('wrong-input version.files');
  await put(name, 'model.safetensors', new TextEncoder().encode('weightz'));
  expect(await codeOf(verifyFiles(store.bucket, manifest(name)))).toBe('wrong-input version.files');
  await put(name, 'model.safetensors', weights);
  expect(await codeOf(verifyFiles(store.bucket, manifest(name)))).toBe('resolved');
  const unknown = {
    ...manifest(name),
    files: { ...manifest(name).files, '../x': { sha256: 'a'.repeat(64), bytes: 1 } },
  };
  expect(await codeOf(verifyFiles(store.bucket, unknown))).toBe('wrong-input version.files');
});

/** All bytes of a file, as a stream gives them. */
async function streamed(
  ref: { name: string; version: number },
  file: 'config.json' | 'optimizer.safetensors' | 'model.safetensors',
) {
  const chunks = await streamFile(store.bucket, ref, file, null);
  const out: number[] = [];
  for await (const chunk of chunks ?? []) out.push(...chunk);
  return chunks && Uint8Array.from(out);
}

test('a streamed file is the stored one, and its last step throws where the bytes are not those of the manifest', async () => {
  const ref = { name: 'streamed', version: 0 };
  expect(await codeOf(streamed(ref, 'model.safetensors'))).toBe('missing-version version.missing');
  await put(ref.name, 'config.json', config);
  await put(ref.name, 'model.safetensors', weights);
  await putJsonOnce(store.bucket, versionKey(ref, 'manifest.json'), manifest(ref.name));
  expect(await streamed(ref, 'model.safetensors')).toEqual(weights);
  expect(await streamed(ref, 'optimizer.safetensors')).toBeNull();
  expect(await codeOf(streamFile(store.bucket, ref, 'model.safetensors', 'f'.repeat(64)))).toBe(
    'missing-version version.missing',
  );
  for (const other of ['weightz', 'weight', 'weightss']) {
    await put(ref.name, 'model.safetensors', new TextEncoder().encode(other));
    expect(await codeOf(streamed(ref, 'model.safetensors')), other).toBe('missing-version version.missing');
  }
  await store.bucket.delete(versionKey(ref, 'model.safetensors'));
  expect(await codeOf(streamed(ref, 'model.safetensors'))).toBe('missing-version version.missing');
});

test('bytes that were swapped after the commit are never loaded', async () => {
  const ref = { name: 'swapped', version: 0 };
  expect(await codeOf(loadVersion(store.bucket, ref, ['config.json'], null))).toBe(
    'missing-version version.missing',
  );
  await put(ref.name, 'config.json', config);
  await put(ref.name, 'model.safetensors', weights);
  await putJsonOnce(store.bucket, versionKey(ref, 'manifest.json'), manifest(ref.name));
  expect((await loadVersion(store.bucket, ref, ['model.safetensors'], null))['model.safetensors']).toEqual(
    weights,
  );
  await put(ref.name, 'model.safetensors', new TextEncoder().encode('weightz'));
  expect(await codeOf(loadVersion(store.bucket, ref, ['model.safetensors'], null))).toBe(
    'missing-version version.missing',
  );
  await store.bucket.delete(`policies/${ref.name}/0/model.safetensors`);
  expect(await codeOf(loadVersion(store.bucket, ref, ['model.safetensors'], null))).toBe(
    'missing-version version.missing',
  );
});

test('a committed version takes no other bytes, and its manifest is written once', async () => {
  const ref = { name: 'once', version: 0 };
  await put(ref.name, 'config.json', config);
  await put(ref.name, 'model.safetensors', weights);
  expect(await putJsonOnce(store.bucket, versionKey(ref, 'manifest.json'), manifest(ref.name))).toBe(true);
  expect(await putJsonOnce(store.bucket, versionKey(ref, 'manifest.json'), {})).toBe(false);
  const other = new TextEncoder().encode('others');
  expect(
    await codeOf(
      putVersionFile(store.bucket, ref, 'config.json', body(other), { sha256: sha256(other), settled: true }),
    ),
  ).toBe('give-up version.committed');
  expect(
    await putVersionFile(store.bucket, ref, 'config.json', body(config), {
      sha256: sha256(config),
      settled: true,
    }),
  ).toBe('same');
});

test('a dead letter keeps the cause that was known', async () => {
  const message = { v: 1, round: 'r', to: 'judge' };
  const id = letterId('judge', message);
  const letter = {
    id,
    queue: 'judge',
    body: message,
    attempts: 2,
    kind: 'give-up',
    round: null,
    group: null,
  } as const;
  await storeDeadLetter(store.db, { ...letter, code: 'object.damaged', cause: 'torn', at: 1 });
  await storeDeadLetter(store.db, { ...letter, code: UNKNOWN_CAUSE, cause: '?', attempts: 6, at: 2 });
  expect(await getDeadLetter(store.db, id)).toMatchObject({ cause: 'torn', attempts: 6, at: 2 });
  await storeDeadLetter(store.db, { ...letter, code: 'version.missing', cause: 'gone', at: 3 });
  expect(await getDeadLetter(store.db, id)).toMatchObject({ cause: 'gone', attempts: 6, at: 3 });
});
