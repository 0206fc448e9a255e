/** Uploads in parts through a real gateway: torn, killed, repeated, refused, raced and left behind. What is sent is counted by a proxy before the mesh. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { FileEntry, FileSources, VersionFiles } from '../../core/schema/policy.ts';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { tensorShapes } from '../../model/checkpoint.ts';
import { parseConfig } from '../../model/config.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { Tally } from '../../workers/api/tally.ts';
import { ALONE, openScene, type Scene, temporaryFolder } from './scene.ts';

const MIB = 1024 * 1024;
const PART = 8 * MIB;
const folder = temporaryFolder();

let scene: Scene;
let start: VersionFiles;
let proxy: Awaited<ReturnType<typeof openProxy>>;
beforeAll(async () => {
  scene = await openScene();
  proxy = await openProxy(scene.mesh.url);
  start = await scene.gateway.getVersion({ name: 'arithmetic-base', version: 0 });
});
afterEach(() => proxy.reset());
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await proxy.close();
  await scene.stop();
});

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const entryOf = (bytes: Uint8Array) => ({ sha256: sha256(bytes), bytes: bytes.length });

/** Bytes that are others for each seed, and in each part. */
function bytesOf(length: number, seed: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let i = 0, word = seed; i < words.length; i++) {
    word = (Math.imul(word, 1664525) + 1013904223) >>> 0;
    words[i] = word;
  }
  return new Uint8Array(words.buffer, 0, length);
}

/** What is done with a request to the files of a version: passed on; never answered; or cut off after a megabyte of its body. */
type Does = 'pass' | 'hold' | 'cut';

/** Passes requests on to the mesh, and notes what came for files of versions. */
async function openProxy(mesh: string) {
  const to = new URL(mesh);
  let seen: { call: string; bytes: number; status: number | null }[] = [];
  let decide: (call: string) => Does = () => 'pass';
  const server = createServer((asked, answer) => {
    const file = /\/files\/(.*)$/.exec(asked.url!)?.[1];
    const note = { call: `${asked.method} ${file}`, bytes: 0, status: null as number | null };
    if (file) seen.push(note);
    const does = file ? decide(note.call) : 'pass';
    asked.on('data', (chunk: Uint8Array) => {
      note.bytes += chunk.length;
      if (does === 'cut' && note.bytes > MIB) asked.destroy();
    });
    asked.on('error', () => undefined);
    if (does === 'hold') return;
    const headers = { ...asked.headers, host: to.host };
    const { hostname, port } = to;
    const on = request({ hostname, port, method: asked.method, path: asked.url, headers }, (told) => {
      note.status = told.statusCode!;
      answer.writeHead(told.statusCode!, told.headers);
      told.pipe(answer);
    });
    on.on('error', () => answer.destroy());
    asked.on('close', () => {
      if (!asked.complete) on.destroy();
    });
    asked.pipe(on);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: () => seen,
    /** The calls for a file, without its name. */
    callsOf: (file: string) =>
      seen
        .filter(({ call }) => call.split(' ')[1]!.split('/')[0] === file)
        .map(({ call }) => call.replace(file, '').replace('  ', ' ')),
    bytesOf: (call: string) =>
      seen.filter((one) => one.call === call).reduce((sum, { bytes }) => sum + bytes, 0),
    when: (does: typeof decide) => {
      decide = does;
    },
    reset: () => {
      seen = [];
      decide = () => 'pass';
    },
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

const clientOf = (url: string, tally?: Tally) =>
  new GatewayClient({
    url,
    token: scene.mesh.secrets.LEARNER_TOKEN,
    backOff: { attempts: 4, firstMs: 1, longestMs: 5 },
    ...(tally ? { tally } : {}),
  });
const bucketOf = () => scene.mesh.mf.getR2Bucket('BUCKET', 'rollmesh-gateway');
const keysUnder = async (prefix: string) => {
  const { objects } = await (await bucketOf()).list({ prefix });
  return objects.map(({ key }) => key.slice(prefix.length)).sort();
};

const aboutOf = (policy: string, version = 0) => ({
  policy,
  version,
  parent: version === 0 ? null : version - 1,
  groups: [],
  round: null,
  settings: {},
});
const filesWith = (optimizer: Uint8Array): FileSources => ({
  'config.json': start['config.json']!,
  'model.safetensors': start['model.safetensors']!,
  'optimizer.safetensors': optimizer,
});

/** A call of the gateway as it is sent, and its answer: status, and what it says or by which code it refuses. */
async function call(
  method: 'POST' | 'PUT',
  path: string,
  body?: BodyInit,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${scene.mesh.url}/api/policies/${path}`, {
    method,
    headers: { authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}`, ...headers, ...ALONE },
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  } as RequestInit);
  const json = (await answer.json()) as { error?: { code: string; message: string } };
  return { status: answer.status, code: json.error?.code, said: json.error?.message, json };
}

/** The status by which a part of so many bytes is refused before any of them is sent. */
const announced = (path: string, hash: string, length: number) =>
  new Promise<number>((resolve, reject) => {
    const { hostname, port } = new URL(scene.mesh.url);
    const headers = {
      authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}`,
      'x-sha256': hash,
      'content-length': String(length),
    };
    const asked = request(
      { hostname, port, method: 'PUT', path: `/api/policies/${path}`, headers },
      (answer) => {
        resolve(answer.statusCode!);
        asked.destroy();
      },
    );
    asked.on('error', reject);
    asked.flushHeaders();
  });

/** The calls for one object of a version. */
function uploadOf(policy: string, object: string, hash: string) {
  const path = `${policy}/versions/0/files/${object}/parts`;
  const named = { 'x-sha256': hash };
  return {
    path: (part: number) => `${path}/${part}`,
    begin: (bytes: unknown) => call('POST', path, JSON.stringify({ bytes }), named),
    put: (part: number | string, bytes: Uint8Array<ArrayBuffer>) =>
      call('PUT', `${path}/${part}`, bytes, named),
    join: () => call('POST', `${path}/join`, undefined, named),
    async putAll(bytes: Uint8Array<ArrayBuffer>) {
      for (let at = 0; at < bytes.length; at += PART)
        expect((await this.put(at / PART + 1, bytes.subarray(at, at + PART))).status).toBe(201);
    },
  };
}

test('an import that is killed goes on with the parts that are missing', async () => {
  const checkpoint = join(folder, 'checkpoint');
  mkdirSync(checkpoint);
  const json = {
    ...{ model_type: 'llama', vocab_size: 17_000, hidden_size: 512, intermediate_size: 64 },
    ...{ num_hidden_layers: 1, num_attention_heads: 8, num_key_value_heads: 8, max_position_embeddings: 64 },
    ...{ rms_norm_eps: 1e-6, hidden_act: 'silu', rope_theta: 10_000, tie_word_embeddings: true },
    ...{ bos_token_id: 1, eos_token_id: 2, torch_dtype: 'float32' },
  };
  const tensors = [...tensorShapes(parseConfig(json))].map(([name, shape]) => {
    const data = new Float32Array(shape.reduce((product, size) => product * size, 1));
    for (let i = 0; i < data.length; i++) data[i] = ((i % 9973) - 5000) / 50_000;
    return [name, { shape: [...shape], data }] as const;
  });
  const weights = writeSafetensors(new Map(tensors));
  expect(Math.ceil(weights.length / PART)).toBe(5);
  writeFileSync(join(checkpoint, 'config.json'), JSON.stringify(json));
  writeFileSync(join(checkpoint, 'model.safetensors'), weights);

  const child = () =>
    spawn(
      process.execPath,
      [
        ...[...NODE_FLAGS, 'cli/rollmesh.ts', 'policy', 'import', checkpoint, '--name', 'killed'],
        ...['--no-tokenizer', '--url', proxy.url],
      ],
      { env: { ...process.env, LEARNER_TOKEN: scene.mesh.secrets.LEARNER_TOKEN }, stdio: 'ignore' },
    );
  const ended = (process: ReturnType<typeof child>) =>
    new Promise<number | null>((resolve) => process.once('close', (status) => resolve(status)));

  // Three parts are stored; the others are on their way for ever.
  const held = new Set(['PUT model.safetensors/parts/4', 'PUT model.safetensors/parts/5']);
  proxy.when((asked) => (held.has(asked) ? 'hold' : 'pass'));
  const first = child();
  const killed = ended(first);
  while (proxy.seen().filter(({ call }) => held.has(call)).length < 2)
    await new Promise((resolve) => setTimeout(resolve, 20));
  first.kill('SIGKILL');
  expect(await killed).toBe(null);
  const parts = ['PUT /parts/1', 'PUT /parts/2', 'PUT /parts/3', 'PUT /parts/4', 'PUT /parts/5'];
  expect(proxy.callsOf('model.safetensors')).toEqual(['POST /parts', ...parts]);

  proxy.reset();
  expect(await ended(child())).toBe(0);
  // On a busy machine a part may be sent again, since its answer came late.
  expect([...new Set(proxy.callsOf('model.safetensors'))]).toEqual([
    'POST /parts',
    'PUT /parts/4',
    'PUT /parts/5',
    'POST /parts/join',
  ]);
  const sent = new Map(proxy.seen().map(({ call, bytes }) => [call, bytes]));
  const bytes = [4, 5].map((part) => sent.get(`PUT model.safetensors/parts/${part}`)!);
  expect(bytes[0]! + bytes[1]!).toBe(weights.length - 3 * PART);
  const { 'model.safetensors': back } = await scene.gateway.getVersion({ name: 'killed', version: 0 });
  expect(Buffer.compare(back!, weights)).toBe(0);
  expect(await keysUnder('policies/killed/0/')).toEqual([
    'config.json',
    'manifest.json',
    'model.safetensors',
  ]);
});

test('a part that breaks off is sent again alone, small files go in one request, and all is counted', async () => {
  const optimizer = bytesOf(2 * PART + MIB + 5, 1);
  let cut = 0;
  proxy.when((asked) => (asked.endsWith('/parts/2') && cut++ === 0 ? 'cut' : 'pass'));
  const tally = new Tally();
  const client = clientOf(proxy.url, tally);
  expect((await client.putVersion(filesWith(optimizer), aboutOf('torn'))).created).toBe(true);

  expect(cut).toBe(2);
  expect(proxy.callsOf('optimizer.safetensors').toSorted()).toEqual([
    'POST /parts',
    'POST /parts/join',
    'PUT /parts/1',
    'PUT /parts/2',
    'PUT /parts/2',
    'PUT /parts/3',
  ]);
  const bytes = (part: number) => proxy.bytesOf(`PUT optimizer.safetensors/parts/${part}`);
  expect([bytes(1), bytes(3)]).toEqual([PART, MIB + 5]);
  expect(bytes(2)).toBeGreaterThan(PART + MIB);
  for (const file of ['config.json', 'model.safetensors']) expect(proxy.callsOf(file)).toEqual(['PUT ']);

  const back = await scene.gateway.getVersion({ name: 'torn', version: 0 });
  expect(Buffer.compare(back['optimizer.safetensors']!, optimizer)).toBe(0);
  const names = ['config.json', 'manifest.json', 'model.safetensors', 'optimizer.safetensors'];
  expect(await keysUnder('policies/torn/0/')).toEqual(names);
  const object = await (await bucketOf()).head('policies/torn/0/optimizer.safetensors');
  expect(Buffer.from(object!.checksums.sha256!).toString('hex')).toBe(sha256(optimizer));

  // Listed, begun and noted; each part stored and noted; listed, completed and stored. The torn part may have begun to be stored.
  const ofOptimizer = 3 + 2 * 3 + 3;
  expect(tally.total.r2ClassA - ofOptimizer - names.length + 1).toBeOneOf([0, 1]);
  const stored = await Promise.all(
    names.map(async (name) => (await (await bucketOf()).head(`policies/torn/0/${name}`))!.size),
  );
  expect(tally.total.r2BytesWritten).toBe(stored.reduce((sum, size) => sum + size, 0));
});

test('parts that make other bytes are refused by name, removed, and no version has them', async () => {
  const [right, wrong] = [bytesOf(1007, 2), bytesOf(1007, 3)];
  const path = 'other-bytes/versions/0';
  for (const file of ['config.json', 'model.safetensors'] as const)
    await call('PUT', `${path}/files/${file}`, start[file]!.slice(), { 'x-sha256': sha256(start[file]!) });
  const upload = uploadOf('other-bytes', 'optimizer.safetensors.shard-0', sha256(right));
  await upload.begin(right.length);
  await upload.putAll(wrong);
  expect(await upload.join()).toMatchObject({
    status: 422,
    code: 'version.hash',
    said: 'The bytes of optimizer.safetensors.shard-0 are not those of the header x-sha256.',
  });
  expect(await keysUnder('policies/other-bytes/0/')).toEqual(['config.json', 'model.safetensors']);

  const last = bytesOf(10, 4);
  const whole = Buffer.concat([right, last]);
  const manifest = (optimizer: FileEntry) =>
    JSON.stringify({
      ...aboutOf('other-bytes'),
      files: {
        'config.json': entryOf(start['config.json']!),
        'model.safetensors': entryOf(start['model.safetensors']!),
        'optimizer.safetensors': optimizer,
      },
    });
  const shards = [entryOf(right), entryOf(last)];
  await call('PUT', `${path}/files/optimizer.safetensors.shard-1`, last, { 'x-sha256': sha256(last) });
  expect(await call('PUT', path, manifest({ ...entryOf(whole), shards }))).toMatchObject({
    status: 422,
    code: 'version.files',
    said: 'The file optimizer.safetensors.shard-0 is not stored.',
  });

  // The same upload begins anew, with nothing of what was removed.
  expect((await upload.begin(right.length)).json).toMatchObject({ result: 'open', parts: [] });
  await upload.putAll(right);
  expect((await upload.join()).status).toBe(201);
  const swapped = { ...entryOf(whole), sha256: sha256(wrong) };
  expect(await call('PUT', path, manifest({ ...swapped, shards }))).toMatchObject({
    status: 422,
    code: 'version.files',
    said: `The 2 shards of optimizer.safetensors make ${whole.length} bytes with sha256 ${sha256(whole)}.`,
  });
  const swappedShard = [{ ...shards[0]!, sha256: sha256(wrong) }, shards[1]!];
  expect(await call('PUT', path, manifest({ ...entryOf(whole), shards: swappedShard }))).toMatchObject({
    status: 422,
    said: 'The stored optimizer.safetensors.shard-0 is not the one of the manifest.',
  });
  expect((await call('PUT', path, manifest({ ...entryOf(whole), shards }))).status).toBe(201);
  const back = await scene.gateway.getVersion({ name: 'other-bytes', version: 0 });
  expect(Buffer.compare(back['optimizer.safetensors']!, whole)).toBe(0);

  const late = uploadOf('other-bytes', 'optimizer.safetensors.shard-0', sha256(wrong));
  expect(await late.begin(wrong.length)).toMatchObject({ status: 409, code: 'version.committed' });
});

test('what is wrong with a request is refused by name, and what is repeated changes nothing', async () => {
  const bytes = bytesOf(2 * PART + 9, 5);
  const upload = uploadOf('refused', 'optimizer.safetensors', sha256(bytes));
  const part = (n: number) => bytes.subarray((n - 1) * PART, n * PART);
  const unknown = { status: 404, code: 'upload.unknown' };
  expect(await upload.put(1, part(1))).toMatchObject(unknown);
  expect(await upload.join()).toMatchObject(unknown);
  for (const length of [0, -1, 1.5, '5', null])
    expect(await upload.begin(length)).toMatchObject({ status: 422, code: 'body.schema' });
  expect(await upload.begin(95 * MIB + 1)).toMatchObject({ status: 413, code: 'body.size' });
  expect(await keysUnder('policies/refused/')).toEqual([]);

  const open = { status: 200, json: { result: 'open', partBytes: PART } };
  expect(await upload.begin(bytes.length)).toMatchObject(open);
  const wrongPart = { status: 422, code: 'upload.part' };
  for (const number of [0, 4, '01', '1.5', '-1', '123456'])
    expect(await upload.put(number, part(3))).toMatchObject(wrongPart);
  expect(await upload.put(1, part(1).subarray(1))).toMatchObject({
    ...wrongPart,
    said: `Part 1 of optimizer.safetensors came with ${PART - 1} bytes.`,
  });
  expect(await upload.put(3, part(2))).toMatchObject(wrongPart);
  expect(await announced(upload.path(1), sha256(bytes), PART + 1)).toBe(413);
  // Whoever is refused while a body larger than the sockets' buffers is on its way sees why, each time.
  for (let time = 0; time < 8; time++) {
    const body = new Uint8Array(20_000_000);
    const nobody = { authorization: 'Bearer none', 'x-sha256': sha256(bytes), ...ALONE };
    const { status } = await fetch(
      `${scene.mesh.url}/api/policies/refused/versions/0/files/model.safetensors`,
      {
        method: 'PUT',
        headers: nobody,
        body,
      },
    );
    expect(status).toBe(401);
  }
  const stream = new ReadableStream({
    start: (controller) => {
      controller.enqueue(part(3));
      controller.close();
    },
  });
  const path = 'refused/versions/0/files/optimizer.safetensors';
  expect(await call('PUT', `${path}/parts/3`, stream, { 'x-sha256': sha256(bytes) })).toMatchObject({
    status: 411,
    code: 'body.length',
  });
  expect(await call('PUT', `${path}/parts/3`, part(3))).toMatchObject({
    status: 422,
    code: 'version.sha256',
  });
  const other = uploadOf('refused', 'model.safetensors', sha256(bytes));
  expect(await other.put(3, part(3))).toMatchObject(unknown);
  const tokenless = await fetch(`${scene.mesh.url}/api/policies/${path}/parts/join`, {
    method: 'POST',
    headers: { 'x-sha256': sha256(bytes), ...ALONE },
  });
  expect(tokenless.status).toBe(401);

  expect((await upload.put(3, part(3))).json).toMatchObject({ part: 3, result: 'stored' });
  expect(await upload.put(3, part(3))).toMatchObject({ status: 200, json: { result: 'same' } });
  // Other bytes under a number that is taken are not read.
  expect(await upload.put(3, bytesOf(9, 6))).toMatchObject({ status: 200, json: { result: 'same' } });
  expect(await upload.join()).toMatchObject({
    status: 409,
    code: 'upload.incomplete',
    said: 'Of the 3 parts of optimizer.safetensors, 1, 2 are not stored.',
  });
  expect(await upload.begin(bytes.length)).toMatchObject({ ...open, json: { parts: [3] } });
  await upload.put(1, part(1));
  await upload.put(2, part(2));
  expect(await upload.join()).toMatchObject({ status: 201, json: { result: 'stored' } });
  expect(await upload.join()).toMatchObject({ status: 200, json: { result: 'same' } });
  expect(await upload.begin(bytes.length)).toMatchObject({ status: 200, json: { result: 'same' } });
  expect(await upload.put(1, part(1))).toMatchObject(unknown);
  expect(await keysUnder('policies/refused/0/')).toEqual(['optimizer.safetensors']);
});

test('two at once store the same object once, and others beside it', async () => {
  const large = bytesOf(2 * PART + 11, 7);
  const both = await Promise.all(
    [1, 2].map(() => clientOf(scene.mesh.url).putVersion(filesWith(large), aboutOf('twice'))),
  );
  expect(both.map(({ created }) => created).toSorted()).toEqual([false, true]);
  const names = ['config.json', 'manifest.json', 'model.safetensors', 'optimizer.safetensors'];
  expect(await keysUnder('policies/twice/0/')).toEqual(names);

  const [one, two] = [bytesOf(1011, 8), bytesOf(1011, 9)];
  const uploads = [one, two].map((bytes) => ({
    bytes,
    ...uploadOf('beside', 'optimizer.safetensors', sha256(bytes)),
  }));
  for (const { begin, bytes } of uploads) expect((await begin(bytes.length)).status).toBe(200);
  for (const upload of uploads) await upload.putAll(upload.bytes);
  for (const { join } of uploads) expect((await join()).status).toBe(201);
  expect(await keysUnder('policies/beside/0/')).toEqual([
    'optimizer.safetensors',
    `optimizer.safetensors.${sha256(two)}`,
  ]);
  const key = 'policies/beside/0/optimizer.safetensors';
  for (const { bytes } of uploads)
    expect(Buffer.compare(await scene.gateway.getObject(key, sha256(bytes)), bytes)).toBe(0);
});

test('an upload that the store has ended is begun anew', async () => {
  const bytes = bytesOf(2 * PART + 13, 9);
  const upload = uploadOf('ended', 'optimizer.safetensors', sha256(bytes));
  const place = `policies/ended/0/optimizer.safetensors.${sha256(bytes)}.parts`;
  const bucket = await bucketOf();
  await upload.begin(bytes.length);
  await upload.put(1, bytes.subarray(0, PART));
  const { id } = (await bucket.head(`${place}/upload`))!.customMetadata!;
  // As R2 does after seven days.
  await bucket.resumeMultipartUpload(place, id!).abort();
  const client = clientOf(proxy.url);
  expect((await client.putVersion(filesWith(bytes), aboutOf('ended'))).created).toBe(true);
  const calls = proxy.callsOf('optimizer.safetensors');
  expect(calls.filter((one) => one === 'POST /parts')).toHaveLength(2);
  expect(calls.filter((one) => one === 'PUT /parts/1')).toHaveLength(1);
  const back = await scene.gateway.getVersion({ name: 'ended', version: 0 });
  expect(Buffer.compare(back['optimizer.safetensors']!, bytes)).toBe(0);
});

test('an upload that nobody ends goes with its version', async () => {
  for (const version of [0, 1, 2])
    await scene.gateway.putVersion(filesWith(bytesOf(9, 11 + version)), aboutOf('pruned', version));
  const bucket = await bucketOf();
  const place = 'policies/pruned/1/optimizer.safetensors.shard-0.parts';
  // Left of a learner that was killed before another one committed the version.
  const upload = await bucket.createMultipartUpload(place);
  await upload.uploadPart(1, new Uint8Array(9));
  const { uploadId } = upload;
  await bucket.put(`${place}/upload`, '', { customMetadata: { id: uploadId, bytes: '9' } });
  const { removed } = await scene.gateway.prune('pruned', { keep: 1, withdrawnDays: 1, dryRun: false });
  expect(removed.map(({ version }) => version)).toEqual([1]);
  expect(await keysUnder('policies/pruned/1/')).toEqual(['manifest.json']);
  await expect(
    bucket.resumeMultipartUpload(place, uploadId).uploadPart(2, new Uint8Array(9)),
  ).rejects.toThrow('10024');
});
