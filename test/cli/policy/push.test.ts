/** A version is published on a server that takes commits as the Hugging Face Hub does: repository, preupload, LFS, one commit. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
// As every command does.
import '../../../cli/shared/fetch-dispatcher.ts';
import { modelCard } from '../../../cli/policy/model-card.ts';
import { type PushOptions, pushVersion } from '../../../cli/policy/push.ts';
import { readReceipt } from '../../../local/verify/receipt.ts';
import { readSafetensors } from '../../../model/safetensors.ts';
import { shipped } from '../../../recipes/index.ts';
import { learns } from '../../mesh/learns.ts';
import { openScene, type Scene } from '../../mesh/scene.ts';

const TOKEN = 'hf_may_write';
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** What the server holds: repositories with their files, and stored LFS objects. */
const repositories = new Map<
  string,
  { visibility: string; files: Map<string, Uint8Array>; commits: string[] }
>();
const objects = new Map<string, Uint8Array>();
let server: Server;
let hub = '';
let scene: Scene;
let ends: () => Promise<void>;

async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part as Uint8Array);
  return new Uint8Array(Buffer.concat(parts));
}

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://hub');
    const body = await bodyOf(request);
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const [, oid] = /^\/storage\/([\da-f]{64})$/.exec(pathname) ?? [];
    if (oid && request.method === 'PUT') {
      if (sha256(body) !== oid) return json({ error: 'other bytes' }, 400);
      objects.set(oid, body);
      return response.writeHead(200).end();
    }
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return json({ error: 'no' }, 403);
    const text = new TextDecoder().decode(body);
    if (pathname === '/api/repos/create') {
      const { name, organization, visibility } = JSON.parse(text) as Record<string, string>;
      const id = `${organization}/${name}`;
      if (repositories.has(id)) return json({ error: 'You already created this model repo' }, 409);
      repositories.set(id, { visibility: visibility!, files: new Map(), commits: [] });
      return json({ url: `${hub}/${id}`, id });
    }
    const [, id, verb] =
      /^(?:\/api\/models)?\/([^/]+\/[^/]+?)(?:\.git)?\/(preupload|info|commit)\//.exec(pathname) ?? [];
    const repository = repositories.get(id ?? '');
    if (!repository) return json({ error: 'not found' }, 404);
    if (verb === 'preupload') {
      const { files } = JSON.parse(text) as { files: { path: string }[] };
      return json({
        files: files.map(({ path }) => ({
          path,
          uploadMode: /\.(safetensors|onnx|rollmesh)$/.test(path) ? 'lfs' : 'regular',
        })),
      });
    }
    if (verb === 'info') {
      const { objects: asked } = JSON.parse(text) as { objects: { oid: string; size: number }[] };
      return json({
        transfer: 'basic',
        objects: asked.map((one) => ({ ...one, actions: { upload: { href: `${hub}/storage/${one.oid}` } } })),
      });
    }
    const lines = text
      .split('\n')
      .map((line) => JSON.parse(line) as { key: string; value: Record<string, string> });
    for (const { key, value } of lines) {
      if (key === 'header') repository.commits.push(value.summary!);
      if (key === 'file')
        repository.files.set(
          value.path!,
          new Uint8Array(Buffer.from(value.content!, value.encoding as 'base64')),
        );
      if (key === 'lfsFile') {
        const stored = objects.get(value.oid!);
        if (!stored) return json({ error: `no object ${value.oid}` }, 400);
        repository.files.set(value.path!, stored);
      }
    }
    return json({
      success: true,
      commitOid: 'a'.repeat(40),
      commitUrl: `${hub}/${id}/commit/a`,
      hookOutput: '',
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  scene = await openScene();
  ends = await learns(scene, shipped.find('trio'));
  const { round } = await scene.order({ recipe: 'trio', tasks: 2, groupSize: 2, engine: 'kernels' });
  await scene.reach(round, ['done']);
});
afterAll(async () => {
  await ends?.();
  await scene?.mesh.stop();
  await new Promise((closed) => server.close(closed));
});
beforeEach(() => repositories.clear());

const said: string[] = [];
const push = (options: Partial<PushOptions>, name: string, version = 1, token = TOKEN) =>
  pushVersion(
    scene.gateway,
    { name, version },
    {
      repository: 'me/mine',
      dtype: undefined,
      adapter: false,
      base: undefined,
      public: false,
      receipt: false,
      state: 'no-such-folder',
      ...options,
    },
    { env: { HF_ENDPOINT: hub, HF_TOKEN: token }, say: (line) => said.push(line) },
  );

test('a trained version is published with its card, its hashes and a receipt that can be read', async () => {
  const name = (await scene.gateway.listRuns())[0]!.settings.policy;
  const done = await push({ receipt: true, dtype: 'BF16' }, name);
  expect(done).toMatchObject({ repository: 'me/mine', commit: 'a'.repeat(40), url: `${hub}/me/mine` });
  const { files, visibility, commits } = repositories.get('me/mine')!;
  expect(visibility).toBe('private');
  expect(commits).toEqual([`Add ${name}, version 1`]);
  expect([...files.keys()].sort()).toEqual(done.files);
  const manifest = JSON.parse(new TextDecoder().decode(files.get('manifest.json')));
  for (const [file, { sha256: hash }] of Object.entries<{ sha256: string }>(manifest.files))
    expect([file, sha256(files.get(file)!)]).toEqual([file, hash]);
  expect(readSafetensors(files.get('model.safetensors')!).size).toBeGreaterThan(0);
  expect(
    (await readReceipt(files.get('receipt.rollmesh') as Uint8Array<ArrayBuffer>)).contents.versions,
  ).toHaveLength(1);
  const card = new TextDecoder().decode(files.get('README.md'));
  expect(card).toMatch(/^---\nlibrary_name: transformers\n/);
  expect(card).toContain(
    'Round 1 of a run of the recipe `trio`, paid by `mix`, with 2 tasks a round and 2 rollouts a task, seed 0.',
  );
  expect(card).toContain('This version was not evaluated.');
  expect(card).toContain('npx rollmesh policy check receipt.rollmesh');
});

test('a repository that is there gets another commit, and keeps who may read it', async () => {
  repositories.set('me/mine', { visibility: 'public', files: new Map(), commits: ['before'] });
  await push({}, 'arithmetic-base', 0);
  const { visibility, commits, files } = repositories.get('me/mine')!;
  expect([visibility, commits]).toEqual(['public', ['before', 'Add arithmetic-base, version 0']]);
  expect(said.at(-2)).toBe('me/mine is there already.');
  expect(new TextDecoder().decode(files.get('README.md'))).toContain(
    'imported into rollmesh, and not trained there',
  );
});

test('without a token, with one that may not write, or without an answer nothing is published', async () => {
  await expect(push({}, 'arithmetic-base', 0, '')).rejects.toMatchObject({ code: 'hub.token' });
  await expect(push({}, 'arithmetic-base', 0, 'mine')).rejects.toMatchObject({ code: 'hub.token' });
  await expect(push({}, 'arithmetic-base', 0, 'hf_reads')).rejects.toThrow(
    'status 403. Expected a token in HF_TOKEN that may write there',
  );
  await expect(push({}, 'no-such', 0)).rejects.toMatchObject({ code: 'policy.missing' });
  expect(repositories.size).toBe(0);
});

test('a card has the held-out figures of the start and of the version, and the base that the Hub knows', () => {
  const evaluation = (version: number, accuracy: number) =>
    ({ version, heldOut: { accuracy, sampled: null }, judge: {}, figures: { stepF1: 0.5 } }) as never;
  const settings = {
    recipe: 'grpo',
    seed: 3,
    tasks: 8,
    groupSize: 4,
    rewardFunction: 'exact',
    freeze: ['judge'],
    variant: 'dr',
  };
  const known = {
    ref: { name: 'mine', version: 7 },
    importedFrom: `hf:org/base@${'0'.repeat(40)}`,
    training: { run: { settings } as never, round: 7, start: evaluation(0, 0.25), own: evaluation(7, 0.5) },
    adapter: true,
    receipt: false,
    release: '0.1.0',
  };
  const card = modelCard(known);
  expect(modelCard({ ...known, base: 'org/merged' })).toContain('base_model: org/merged\n');
  expect(card).toContain('library_name: peft\npipeline_tag: text-generation\nbase_model: org/base\n');
  expect(card).toContain('8 tasks a round and 4 rollouts a task, seed 3, variant dr, judge frozen.');
  expect(card).toContain(
    '| on held-out tasks | start | this version |\n|---|---|---|\n| accuracy | 0.250 | 0.500 |\n',
  );
  expect(card).not.toContain('stepF1');
  expect(card).not.toContain('receipt');
});
