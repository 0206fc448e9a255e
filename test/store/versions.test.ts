/** Versions in R2: nothing that is torn, swapped, forged or late is ever stored under a manifest or loaded by one. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import { writeDelta } from '../../core/policy/delta.ts';
import type { Manifest } from '../../core/schema/policy.ts';
import { streamSafetensors } from '../../model/safetensors-stream.ts';
import { getDeadLetter, letterId, storeDeadLetter, UNKNOWN_CAUSE } from '../../workers/store/dead-letters.ts';
import { putJsonOnce } from '../../workers/store/objects.ts';
import { removeFiles } from '../../workers/store/retention.ts';
import { putVersionFile, versionKey } from '../../workers/store/version-objects.ts';
import {
  committedManifest,
  fileBytes,
  forkVersion,
  loadVersion,
  verifyFiles,
} from '../../workers/store/versions.ts';
import { manifestOf, noteAndCreate, openStore } from './fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const weights = new TextEncoder().encode('weights');
const config = new TextEncoder().encode('{"max_position_embeddings":64}');
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
/** The bucket for a fork: outside an isolate an object's body has no known length, which a put asks for. */
const ofKnownLength = () => {
  const put = async (key: string, body: BodyInit, options: object) =>
    store.bucket.put(key, await new Response(body).arrayBuffer(), options);
  const { bucket } = store;
  return {
    get: bucket.get.bind(bucket),
    head: bucket.head.bind(bucket),
    put,
  } as unknown as typeof store.bucket;
};
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'resolved',
    (error: unknown) => (error instanceof RollmeshError ? `${error.kind} ${error.code}` : String(error)),
  );

test('a manifest is refused until every file is there with its size and hash', async () => {
  const name = 'verify';
  await put(name, 'config.json', config);
  expect(await codeOf(verifyFiles(store.bucket, manifest(name), null))).toBe('wrong-input version.files');
  await put(name, 'model.safetensors', new TextEncoder().encode('weightz'));
  expect(await codeOf(verifyFiles(store.bucket, manifest(name), null))).toBe('wrong-input version.files');
  await put(name, 'model.safetensors', weights);
  expect(await codeOf(verifyFiles(store.bucket, manifest(name), null))).toBe('resolved');
  const unknown = {
    ...manifest(name),
    files: { ...manifest(name).files, '../x': { sha256: 'a'.repeat(64), bytes: 1 } },
  };
  expect(await codeOf(verifyFiles(store.bucket, unknown, null))).toBe('wrong-input version.files');
});

test('a file may lie in another version only where the parent’s lies', async () => {
  const name = 'elsewhere';
  await put(name, 'config.json', config);
  await put(name, 'model.safetensors', weights);
  await putJsonOnce(store.bucket, versionKey({ name, version: 0 }, 'manifest.json'), manifest(name));
  const entry = { sha256: sha256(weights), bytes: weights.length };
  const next = (version: number, of: object, parent = version - 1) =>
    manifestOf(name, version, {
      parent,
      files: { 'config.json': { sha256: sha256(config), bytes: config.length }, 'model.safetensors': of },
    });
  for (const version of [1, 2])
    await store.bucket.put(`policies/${name}/${version}/config.json`, config, { sha256: sha256(config) });
  const verified = (of: ReturnType<typeof next>, parent = manifest(name)) =>
    codeOf(verifyFiles(store.bucket, of, parent));
  expect(await verified(next(1, entry))).toBe('wrong-input version.files');
  expect(await verified(next(1, { ...entry, version: 1 }))).toBe('wrong-input version.files');
  expect(await verified(next(1, { ...entry, sha256: 'a'.repeat(64), version: 0 }))).toBe(
    'wrong-input version.files',
  );
  expect(await verified(next(1, { ...entry, version: 0 }))).toBe('resolved');
  const first = next(1, { ...entry, version: 0 });
  await putJsonOnce(store.bucket, versionKey({ name, version: 1 }, 'manifest.json'), first);
  expect(await verified(next(2, { ...entry, version: 1 }), first)).toBe('wrong-input version.files');
  expect(await verified(next(2, { ...entry, version: 0 }), first)).toBe('resolved');

  expect(
    (await loadVersion(store.bucket, { name, version: 1 }, ['model.safetensors'], null))['model.safetensors'],
  ).toEqual(weights);
  expect(await streamed({ name, version: 1 }, 'model.safetensors')).toEqual(weights);
  const forked = await forkVersion(ofKnownLength(), { name, version: 1 }, null, 'elsewhere-fork');
  expect(forked.files['model.safetensors']).toEqual(entry);
  expect(await codeOf(verifyFiles(store.bucket, forked, null))).toBe('resolved');
});

/** All bytes of a file, as a stream gives them. */
async function streamed(ref: { name: string; version: number }, file: 'config.json' | 'model.safetensors') {
  const of = await committedManifest(store.bucket, ref, null);
  const out: number[] = [];
  for await (const chunk of fileBytes(store.bucket, of, file, of.files[file]!)) out.push(...chunk);
  return Uint8Array.from(out);
}

test('a streamed file is the stored one, and its last step throws where the bytes are not those of the manifest', async () => {
  const ref = { name: 'streamed', version: 0 };
  expect(await codeOf(streamed(ref, 'model.safetensors'))).toBe('missing-version version.missing');
  await put(ref.name, 'config.json', config);
  await put(ref.name, 'model.safetensors', weights);
  await putJsonOnce(store.bucket, versionKey(ref, 'manifest.json'), manifest(ref.name));
  expect(await streamed(ref, 'model.safetensors')).toEqual(weights);
  expect(await codeOf(committedManifest(store.bucket, ref, 'f'.repeat(64)))).toBe(
    'missing-version version.missing',
  );
  for (const other of ['weightz', 'weight', 'weightss']) {
    await put(ref.name, 'model.safetensors', new TextEncoder().encode(other));
    expect(await codeOf(streamed(ref, 'model.safetensors')), other).toBe('missing-version version.missing');
  }
  await store.bucket.delete(versionKey(ref, 'model.safetensors'));
  expect(await codeOf(streamed(ref, 'model.safetensors'))).toBe('missing-version version.missing');
});

/** A bucket that holds one object, as a stream in chunks of 4 kB. `hash`: what it says that the object's hash is. */
function bucketOf(key: string, bytes: Uint8Array<ArrayBuffer>, hash: string) {
  const state = { given: 0, cancelled: false };
  const body = new ReadableStream({
    pull: (controller) => {
      const chunk = bytes.slice(state.given, state.given + 4096);
      state.given += chunk.length;
      if (chunk.length) controller.enqueue(chunk);
      else controller.close();
    },
    cancel: () => {
      state.cancelled = true;
    },
  });
  const object = { checksums: { sha256: Uint8Array.from(Buffer.from(hash, 'hex')).buffer }, body };
  const get = async (asked: string) => (asked === key ? object : null);
  return { state, bucket: { get } as unknown as typeof store.bucket };
}

test('a large object is streamed, is refused at its end if its bytes are others, and is let go of where it is not read on', async () => {
  const MIB = 2 ** 20;
  const bytes = Uint8Array.from({ length: 1.5 * MIB }, (_, i) => (i * 31) % 251);
  const name = 'large';
  const entry = { sha256: sha256(bytes), bytes: bytes.length };
  const of = manifestOf(name, 0, { files: { 'model.safetensors': entry } });
  const key = versionKey({ name, version: 0 }, 'model.safetensors');
  const read = async (stored: Uint8Array<ArrayBuffer>) => {
    const out: Uint8Array[] = [];
    // The hash that the bucket states is the manifest's, so that the bytes themselves have to be looked at.
    const { bucket } = bucketOf(key, stored, entry.sha256);
    for await (const chunk of fileBytes(bucket, of, 'model.safetensors', entry)) out.push(chunk);
    return Buffer.concat(out);
  };
  expect((await read(bytes)).equals(bytes)).toBe(true);
  const other = bytes.slice();
  other[other.length - 1]! ^= 1;
  for (const wrong of [other, bytes.slice(0, -1), bytes.slice(0, MIB)])
    expect(await messageOf(read(wrong))).toContain(
      `model.safetensors has sha256 ${sha256(wrong)}, its manifest says ${entry.sha256}`,
    );

  const { state, bucket } = bucketOf(key, bytes, entry.sha256);
  const garbage = streamSafetensors(fileBytes(bucket, of, 'model.safetensors', entry));
  expect(await messageOf(garbage.next())).toContain('The header claims');
  expect(state.cancelled).toBe(true);
  expect(state.given).toBeLessThan(MIB);
});

/** The weights in three shards. */
const pieces = ['wei', 'gh', 'ts'].map((text) => new TextEncoder().encode(text));
const shard = (index: number) => `model.safetensors.shard-${index}`;
const inShards = (name: string, order = [0, 1, 2]) => {
  const whole = manifest(name);
  const shards = order.map((i) => ({ sha256: sha256(pieces[i]!), bytes: pieces[i]!.length }));
  return {
    ...whole,
    files: { ...whole.files, 'model.safetensors': { ...whole.files['model.safetensors'], shards } },
  };
};
const putShard = (name: string, index: number, bytes: Uint8Array | undefined) =>
  store.bucket.put(`policies/${name}/0/${shard(index)}`, bytes!, { sha256: sha256(bytes!) });
/** Stores the pieces in this order. */
async function putShards(name: string, order = [0, 1, 2]): Promise<void> {
  await put(name, 'config.json', config);
  for (const [index, piece] of order.entries()) await putShard(name, index, pieces[piece]);
}
const messageOf = (work: Promise<unknown>) => work.then(() => 'resolved', String);

test('a file in shards is committed only if every shard is there, in its order, and they make the file', async () => {
  const name = 'sharded';
  await putShards(name);
  const verified = () => messageOf(verifyFiles(store.bucket, inShards(name), null));
  expect(await verified()).toBe('resolved');
  await putShard(name, 1, pieces[1]!.slice(1));
  expect(await verified()).toContain(`The stored ${shard(1)} is not the one of the manifest.`);
  await putShards(name, [0, 2, 1]);
  expect(await verified()).toContain(`The stored ${shard(1)} is not the one of the manifest.`);
  // Shards of these hashes are stored; one after another they are another file.
  expect(await messageOf(verifyFiles(store.bucket, inShards(name, [0, 2, 1]), null))).toContain(
    'The 3 shards of model.safetensors make 7 bytes with sha256',
  );
  await store.bucket.delete(`policies/${name}/0/${shard(2)}`);
  await putShard(name, 1, pieces[1]);
  expect(await verified()).toContain(`The file ${shard(2)} is not stored.`);
});

test('a file in shards is loaded and streamed whole, and a shard that is missing, torn or swapped is named', async () => {
  const ref = { name: 'shards-loaded', version: 0 };
  await putShards(ref.name);
  await putJsonOnce(store.bucket, versionKey(ref, 'manifest.json'), inShards(ref.name));
  const load = () => loadVersion(store.bucket, ref, ['model.safetensors'], null);
  expect((await load())['model.safetensors']).toEqual(weights);
  expect(await streamed(ref, 'model.safetensors')).toEqual(weights);
  const refusals = async () => [await messageOf(load()), await messageOf(streamed(ref, 'model.safetensors'))];
  for (const bytes of [pieces[0]!, pieces[1]!.slice(1)]) {
    await putShard(ref.name, 1, bytes);
    for (const message of await refusals())
      expect(message).toContain(
        `${shard(1)} has sha256 ${sha256(bytes)}, its manifest says ${sha256(pieces[1]!)}`,
      );
  }
  await store.bucket.delete(versionKey(ref, shard(1)));
  for (const message of await refusals()) expect(message).toContain(`${shard(1)} is gone`);
});

test('a fork copies every shard, and retention removes every shard', async () => {
  const ref = { name: 'shards-forked', version: 0 };
  await putShards(ref.name);
  await putJsonOnce(store.bucket, versionKey(ref, 'manifest.json'), inShards(ref.name));
  const forked = await forkVersion(ofKnownLength(), ref, null, 'shards-fork');
  await verifyFiles(store.bucket, forked, null);
  await removeFiles(store.db, store.bucket, { policy: ref.name, version: 0 });
  const { objects } = await store.bucket.list({ prefix: `policies/${ref.name}/0/` });
  expect(objects.map(({ key }) => key)).toEqual([versionKey(ref, 'manifest.json')]);
});

/** The weights of three versions, of which the later two are stored as deltas. */
const trained = ['weights!', 'weigh7s!', 'w3igh7s!'].map((text) => new TextEncoder().encode(text));
const of = (bytes: Uint8Array) => ({ sha256: sha256(bytes), bytes: bytes.length });
const deltas = trained.slice(1).map((bytes, i) => {
  const base = trained[i]!;
  return writeDelta({ bytes: base, sha256: sha256(base) }, { bytes, sha256: sha256(bytes) }, 1000)!;
});
const deltaKey = (name: string, index: number) =>
  versionKey({ name, version: index + 1 }, `model.safetensors.delta-${index}`);
/** The manifest of a version, its weights as deltas in this order. */
const byDeltas = (name: string, version: number, order = [0, 1].slice(0, version)) =>
  manifestOf(name, version, {
    files: {
      'config.json': { ...of(config), ...(version ? { version: 0 } : {}) },
      'model.safetensors': version
        ? {
            ...of(trained[order.at(-1)! + 1]!),
            replay: {
              anchor: { ...of(trained[0]!), version: 0 },
              deltas: order.map((index) => ({
                ...of(deltas[index]!),
                result: sha256(trained[index + 1]!),
                ...(index + 1 === version ? {} : { version: index + 1 }),
              })),
            },
          }
        : of(trained[0]!),
    },
  }) as Manifest;
/** Stores three versions with their manifests. */
async function putDeltas(name: string): Promise<void> {
  await put(name, 'config.json', config);
  await put(name, 'model.safetensors', trained[0]!);
  for (const [index, delta] of deltas.entries())
    await store.bucket.put(deltaKey(name, index), delta, { sha256: sha256(delta) });
  for (const version of [0, 1, 2])
    await putJsonOnce(store.bucket, versionKey({ name, version }, 'manifest.json'), byDeltas(name, version));
}
const loaded = (ref: { name: string; version: number }) =>
  loadVersion(store.bucket, ref, ['model.safetensors'], null).then(
    (files) => files['model.safetensors'],
    String,
  );

test('a file by deltas is loaded and streamed whole, and a delta that is missing, torn or swapped is named', async () => {
  const name = 'by-deltas';
  await putDeltas(name);
  const ref = { name, version: 2 };
  for (const version of [0, 1, 2]) {
    expect(await loaded({ name, version })).toEqual(trained[version]);
    expect(await streamed({ name, version }, 'model.safetensors')).toEqual(trained[version]);
  }
  const refusals = async () => [await loaded(ref), await messageOf(streamed(ref, 'model.safetensors'))];
  for (const bytes of [deltas[1]!, deltas[0]!.slice(1)]) {
    await store.bucket.put(deltaKey(name, 0), bytes, { sha256: sha256(bytes) });
    for (const message of await refusals())
      expect(message).toContain(
        `Version 1 of ${name} cannot be used: model.safetensors.delta-0 has sha256 ${sha256(bytes)}`,
      );
  }
  await store.bucket.delete(deltaKey(name, 0));
  for (const message of await refusals()) expect(message).toContain('model.safetensors.delta-0 is gone');
});

test('deltas are committed only after the parent’s, in their order, if they make the file', async () => {
  const name = 'deltas-verified';
  await putDeltas(name);
  const [first, second] = [byDeltas(name, 1), byDeltas(name, 2)];
  const verified = (of: Manifest, parent: Manifest | null) =>
    messageOf(verifyFiles(store.bucket, of, parent));
  expect(await verified(first, byDeltas(name, 0))).toBe('resolved');
  expect(await verified(second, first)).toBe('resolved');
  // The parent's file, as it is: a version that trained another set.
  const { 'model.safetensors': same } = second.files;
  const placed = { ...same!.replay!.deltas[1]!, version: 2 };
  const third = { ...second, version: 3, parent: 2 };
  third.files = {
    ...second.files,
    'model.safetensors': {
      ...same!,
      replay: { ...same!.replay!, deltas: [same!.replay!.deltas[0]!, placed] },
    },
  };
  expect(await verified(third, second)).toBe('resolved');

  const elsewhere = 'The model.safetensors of version 2 is said to be stored in version';
  for (const [of, parent] of [
    [byDeltas(name, 2, [1]), first], // the parent's delta is left out
    [second, byDeltas(name, 0)], // a delta that is not the parent's
  ] as const)
    expect(await verified(of, parent)).toContain(elsewhere);
  expect(await verified(byDeltas(name, 2, [1, 0]), first)).toContain(
    'The file model.safetensors.delta-0 is not stored.',
  );

  /** Version 2 with other bytes in the place of its own delta. */
  const withDelta = async (bytes: Uint8Array, file = trained[2]!) => {
    await store.bucket.put(deltaKey(name, 1), bytes, { sha256: sha256(bytes) });
    const { replay } = same!;
    const own = { ...of(bytes), result: sha256(file) };
    const entry = { ...of(file), replay: { ...replay!, deltas: [replay!.deltas[0]!, own] } };
    return verified({ ...second, files: { ...second.files, 'model.safetensors': entry } }, first);
  };
  expect(await withDelta(deltas[1]!.slice(0, -1))).toContain('A delta cannot be read');
  const wrongBase = writeDelta(
    { bytes: trained[0]!, sha256: sha256(trained[0]!) },
    { bytes: trained[2]!, sha256: sha256(trained[2]!) },
    1000,
  )!;
  expect(await withDelta(wrongBase)).toContain(
    `Delta 1 of model.safetensors makes the file with sha256 ${sha256(trained[2]!)} of the one with ${sha256(trained[0]!)}`,
  );
  expect(await withDelta(deltas[0]!)).toContain('Delta 0 of model.safetensors came in the place of delta 1');
  const turned = deltas[1]!.slice();
  turned[turned.length - 1]! ^= 1;
  expect(await withDelta(turned)).toContain('The deltas of model.safetensors make 8 bytes with sha256');
  expect(await withDelta(deltas[1]!)).toBe('resolved');
});

test('a fork copies the anchor and the deltas into its version 0, and retention removes what a version itself stores', async () => {
  const name = 'deltas-forked';
  await putDeltas(name);
  const to = 'deltas-fork';
  const forked = await forkVersion(ofKnownLength(), { name, version: 2 }, null, to);
  await verifyFiles(store.bucket, forked, null);
  await putJsonOnce(store.bucket, versionKey({ name: to, version: 0 }, 'manifest.json'), forked);
  await removeFiles(store.db, store.bucket, { policy: name, version: 1 });
  expect(await loaded({ name: to, version: 0 })).toEqual(trained[2]);
  expect(await loaded({ name, version: 0 })).toEqual(trained[0]);
  const { objects } = await store.bucket.list({ prefix: `policies/${name}/` });
  expect(objects.map(({ key }) => key.slice(`policies/${name}/`.length))).toEqual([
    '0/config.json',
    '0/manifest.json',
    '0/model.safetensors',
    '1/manifest.json',
    '2/manifest.json',
    '2/model.safetensors.delta-1',
  ]);
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

test('bytes that are stored stay: others under the same name are stored beside them, and each is read by its hash', async () => {
  const ref = { name: 'beside', version: 0 };
  const other = new TextEncoder().encode('others!');
  const stored = (bytes: Uint8Array, of: unknown = bytes.slice()) =>
    putVersionFile(store.bucket, ref, 'model.safetensors', of as never, {
      sha256: sha256(bytes),
      settled: false,
    });
  expect([await stored(weights), await stored(other)]).toEqual(['stored', 'stored']);
  for (const bytes of [weights, other]) expect(await stored(bytes, body(bytes))).toBe('same');
  await put(ref.name, 'config.json', config);
  for (const bytes of [weights, other]) {
    const of = { sha256: sha256(bytes), bytes: bytes.length };
    const { files } = manifest(ref.name);
    const asked = manifestOf(ref.name, 0, { files: { ...files, 'model.safetensors': of } });
    expect(await codeOf(verifyFiles(store.bucket, asked, null))).toBe('resolved');
    await store.bucket.put(versionKey(ref, 'manifest.json'), JSON.stringify(asked));
    expect((await loadVersion(store.bucket, ref, ['model.safetensors'], null))['model.safetensors']).toEqual(
      bytes,
    );
  }
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

test('a damaged policy does not hide the other models, and the log names it', async () => {
  for (const name of ['whole-model', 'damaged-model']) {
    await put(name, 'config.json', config);
    await put(name, 'model.safetensors', weights);
    await putJsonOnce(store.bucket, versionKey({ name, version: 0 }, 'manifest.json'), manifest(name));
    await noteAndCreate(store.db, manifest(name));
  }
  const other = new TextEncoder().encode('{"max_position_embeddings":65}');
  await put('damaged-model', 'config.json', other);
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  // Not by its literal name, since the Workers are compiled against other types than the tests.
  const path: string = '../../workers/gateway/app.ts';
  const { gatewayApp } = (await import(path)) as {
    gatewayApp: (services: object) => { request: (path: string) => Promise<Response> };
  };
  const free = { limit: async () => ({ success: true }) };
  const listed = (bucket: object) =>
    gatewayApp({
      db: store.db,
      bucket,
      settings: { local: true },
      secrets: { read: [], learner: ['the-learners-token'.padEnd(64, '0')] },
      limits: { reads: free, hooks: free },
    }).request('/v1/models');
  const response = await listed(store.bucket);
  const { data } = (await response.json()) as { data: object[] };
  expect(data).toMatchObject([{ id: 'whole-model', max_model_len: 64 }]);
  expect(logged.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
    { event: 'model.unreadable', policy: 'damaged-model', code: 'version.missing' },
  ]);
  // Storage that does not answer says nothing about a policy: the list fails, and is not a shorter one.
  const down = { get: () => Promise.reject(new Error('R2 does not answer')) };
  expect((await listed(down)).status).toBe(500);
  logged.mockRestore();
});
