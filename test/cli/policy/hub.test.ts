/** Checkpoints are fetched from a server that answers as the Hugging Face Hub does. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
// As every command does.
import '../../../cli/shared/fetch-dispatcher.ts';
import { fetchCheckpoint } from '../../../cli/policy/hub.ts';
import { hubModel } from '../../../cli/policy/hub-model.ts';
import { readImport } from '../../../cli/policy/import-checkpoint.ts';
import { readSafetensors, writeSafetensors } from '../../../model/safetensors.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const root = mkdtempSync(join(tmpdir(), 'rollmesh-hub-'));
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const bytesOf = (file: string) => new Uint8Array(readFileSync(join('models/arithmetic-base', file)));

/** The repository that the server has, by file, and what it was asked for. */
let files: Record<string, Uint8Array> = {};
let claimed: Record<string, string> = {};
let asked: string[] = [];
/** What the server does wrong. */
let fault: 'no commit' | 'no json' | 'breaks off' | undefined;
let cache = '';
let server: Server;
let hub = '';

const whole = () => ({
  'README.md': new TextEncoder().encode('not read'),
  'pytorch_model.bin': new Uint8Array(10),
  'config.json': bytesOf('config.json'),
  'tokenizer.json': bytesOf('tokenizer.json'),
  'model.safetensors': bytesOf('model.safetensors'),
});

const entryOf = (path: string) => ({
  type: 'file',
  path,
  size: files[path]!.length,
  oid: sha256(files[path]!).slice(0, 40),
  ...(path.endsWith('.safetensors') && {
    lfs: { oid: claimed[path] ?? sha256(files[path]!), size: files[path]!.length, pointerSize: 134 },
  }),
  lastCommit: { id: COMMIT, title: 'a commit', date: '2026-01-01T00:00:00Z' },
});

beforeAll(async () => {
  server = createServer(async (request, response) => {
    response.setHeader('connection', 'close');
    const path = decodeURIComponent(new URL(request.url!, 'http://hub').pathname);
    asked.push(`${request.method} ${path}${request.headers.authorization ? ' with a token' : ''}`);
    let body = '';
    for await (const chunk of request) body += chunk;
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (path.startsWith('/api/models/gated/'))
      return json({ error: 'Access to this model is restricted.' }, 401);
    if (path.startsWith('/api/models/broken/')) return json({ error: 'down' }, 503);
    if (path === '/api/models/small/base/revision/main')
      return fault === 'no json'
        ? response.end('<html>')
        : json({ _id: '1', id: 'small/base', sha: fault === 'no commit' ? '../../main' : COMMIT });
    if (path === `/api/models/small/base/paths-info/${COMMIT}`) {
      const { paths } = JSON.parse(body) as { paths: string[] };
      const folders = paths.filter((path) => Object.keys(files).some((file) => file.startsWith(`${path}/`)));
      return json([
        ...paths.filter((file) => file in files).map(entryOf),
        ...folders.map((path) => ({ type: 'directory', path, size: 0, oid: sha256(new Uint8Array()) })),
      ]);
    }
    const [, folder] = new RegExp(`^/api/models/small/base/tree/${COMMIT}/(.+)$`).exec(path) ?? [];
    if (folder !== undefined)
      return json(
        Object.keys(files)
          .filter((file) => file.startsWith(`${folder}/`))
          .map(entryOf),
      );
    const bytes = files[path.replace(`/small/base/resolve/${COMMIT}/`, '')];
    if (!bytes) return json({ error: 'not found' }, 404);
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
    const part = from === undefined ? bytes : bytes.subarray(Number(from), Number(to) + 1);
    response.writeHead(from === undefined ? 200 : 206, {
      etag: '"tag"',
      'content-range': `bytes ${from ?? 0}-${to ?? bytes.length - 1}/${bytes.length}`,
      'content-length': part.length,
    });
    if (fault !== 'breaks off') return response.end(part);
    return response.write(part.subarray(0, part.length >> 1), () => response.socket?.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(root, { recursive: true, force: true });
});
beforeEach(() => {
  files = whole();
  claimed = {};
  asked = [];
  fault = undefined;
  cache = mkdtempSync(join(root, 'cache-'));
  vi.stubEnv('HF_HUB_CACHE', cache);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const fetched = (text: string, env: Record<string, string> = {}) =>
  fetchCheckpoint(hubModel(text)!, { env: { HF_ENDPOINT: hub, ...env }, say: () => {} });
const downloads = () => asked.filter((line) => line.startsWith('GET /small/base/resolve/'));

test('what an import reads is fetched at one commit, checked, and taken from the cache the next time', async () => {
  const { folder, origin } = await fetched('hf:small/base');
  expect(origin).toBe(`hf:small/base@${COMMIT}`);
  expect(readdirSync(folder).toSorted()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
  expect(sha256(readFileSync(join(folder, 'model.safetensors')))).toBe(sha256(files['model.safetensors']!));
  expect(Object.keys((await readImport(folder, 'fine', { tokenizer: true, origin })).files)).toHaveLength(3);
  const before = downloads().length;
  expect((await fetched('hf:small/base@main')).folder).toBe(folder);
  expect(downloads()).toHaveLength(before);
});

test('special tokens and further templates come with a checkpoint that has them', async () => {
  const text = (value: string) => new TextEncoder().encode(value);
  Object.assign(files, {
    'special_tokens_map.json': text('{"bos_token": "<s>"}'),
    'chat_template.jinja': text('{{ messages[0].content }}'),
    'additional_chat_templates/tool_use.jinja': text('{{ tools }}'),
    'additional_chat_templates/notes.txt': text('no template'),
  });
  const { folder } = await fetched('hf:small/base');
  expect(readdirSync(join(folder, 'additional_chat_templates'))).toEqual(['tool_use.jinja']);
  const read = await readImport(folder, 'fine', { tokenizer: true });
  const config = JSON.parse(new TextDecoder().decode(read.files['tokenizer_config.json']));
  expect(config).toMatchObject({
    bos_token: '<s>',
    chat_template: [
      { name: 'default', template: '{{ messages[0].content }}' },
      { name: 'tool_use', template: '{{ tools }}' },
    ],
  });
});

test('shards are those that the index names, and a token goes to the Hub', async () => {
  const tensors = [...readSafetensors(files['model.safetensors']!)];
  const parts = {
    'model-1-of-2.safetensors': tensors.slice(0, 5),
    'model-2-of-2.safetensors': tensors.slice(5),
  };
  const weightMap = Object.entries(parts).flatMap(([file, some]) => some.map(([name]) => [name, file]));
  delete files['model.safetensors'];
  for (const [file, some] of Object.entries(parts)) files[file] = writeSafetensors(new Map(some));
  files['model.safetensors.index.json'] = new TextEncoder().encode(
    JSON.stringify({ weight_map: Object.fromEntries(weightMap) }),
  );
  const { folder } = await fetched('hf:small/base', { HF_TOKEN: 'hf_secret' });
  expect(Object.keys((await readImport(folder, 'fine', { tokenizer: true })).files)).toHaveLength(3);
  expect(asked.filter((line) => !line.endsWith('with a token'))).toEqual([]);

  files['model.safetensors.index.json'] = new TextEncoder().encode(
    '{"weight_map":{"a":"../../b.safetensors"}}',
  );
  vi.stubEnv('HF_HUB_CACHE', mkdtempSync(join(root, 'cache-')));
  await expect(fetched('hf:small/base')).rejects.toMatchObject({ code: 'hub.files' });
});

test('weights that are not those of the Hub are removed and named', async () => {
  const right = files['model.safetensors']!;
  claimed['model.safetensors'] = sha256(right);
  files['model.safetensors'] = right.with(200, right[200]! ^ 1);
  await expect(fetched('hf:small/base')).rejects.toMatchObject({ code: 'hub.hash' });
  files['model.safetensors'] = right;
  const { folder } = await fetched('hf:small/base');
  expect(sha256(readFileSync(join(folder, 'model.safetensors')))).toBe(sha256(right));
});

test('a name that is none, a model that is refused, missing weights and a Hub that does not answer are named', async () => {
  for (const text of ['hf:', 'hf:base', 'hf:a/b/c', 'hf:../b', 'hf:a/..@main', 'hf:small/base@'])
    expect(() => hubModel(text), text).toThrow(expect.objectContaining({ code: 'hub.name' }));
  expect(hubModel('models/arithmetic-base')).toBeUndefined();
  await expect(fetched('hf:gated/base')).rejects.toMatchObject({ code: 'hub.refused' });
  await expect(fetched('hf:broken/base')).rejects.toMatchObject({ code: 'hub.unreachable' });
  await expect(fetched('hf:small/base', { HF_TOKEN: 'secret' })).rejects.toMatchObject({ code: 'hub.token' });
  await expect(fetched('hf:small/base', { HF_ENDPOINT: 'http://127.0.0.1:1' })).rejects.toMatchObject({
    code: 'hub.unreachable',
  });
  delete files['model.safetensors'];
  await expect(fetched('hf:small/base')).rejects.toMatchObject({ code: 'hub.files' });
  files = whole();
  const file = join(root, 'a-file');
  writeFileSync(file, '');
  vi.stubEnv('HF_HUB_CACHE', file);
  await expect(fetched('hf:small/base')).rejects.toMatchObject({ code: 'hub.cache' });
});

test('a Hub that names no commit, sends a page instead, or breaks off in the middle of a file is named, and the next try goes on', async () => {
  for (fault of ['no commit', 'no json', 'breaks off'] as const)
    await expect(fetched('hf:small/base'), fault).rejects.toMatchObject({ code: 'hub.unreachable' });
  fault = undefined;
  const { folder } = await fetched('hf:small/base');
  for (const file of ['config.json', 'model.safetensors'])
    expect(sha256(readFileSync(join(folder, file)))).toBe(sha256(files[file]!));
});
