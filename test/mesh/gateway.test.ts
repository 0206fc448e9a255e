/** The gateway from outside: what it takes, what it refuses and with which words, and that nothing hostile gets a 500. */
import { createHash, createHmac } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random, sha256Hex } from '../../core/random.ts';
import { WORKER_NAMES } from '../../core/round/stages.ts';
import { fileEntries, shardName, type VersionFiles } from '../../core/schema/policy.ts';
import { ALONE, openScene, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.stop());

const ID = '0'.repeat(32);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const learner = () => ({ authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}` });
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(scene.mesh.url + path, { headers: { ...headers, ...ALONE } });
const send = (method: string, path: string, body: string, headers: Record<string, string> = learner()) =>
  fetch(scene.mesh.url + path, { method, body, headers: { ...headers, ...ALONE } });

async function refusal(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: Record<string, string | null> };
  expect(Object.keys(error).sort()).toEqual(['code', 'expected', 'message', 'next']);
  return `${response.status} ${error.code}`;
}
const roundCount = async () =>
  ((await (await get('/api/rounds')).json()) as { rounds: unknown[] }).rounds.length;

describe('the webhook', () => {
  const good = JSON.stringify({ recipe: 'trio', seed: 77, tasks: 1, groupSize: 2 });

  test('starts nothing unless all of it is right', async () => {
    const now = Math.floor(Date.now() / 1000);
    const signed = (body: string) => scene.hook(body);
    const cases: [string, Promise<Response>][] = [
      ['401 signature.missing', scene.hook(good, {})],
      ['401 signature.stale', scene.hook(good, scene.signed(good, now - 400))],
      ['401 signature.wrong', scene.hook(good, scene.signed(`${good} `))],
      ['413 body.size', signed('x'.repeat(70_000))],
      ['400 body.json', signed('{"recipe":')],
      ['400 body.json', signed('')],
      ['422 body.schema', signed('[]')],
      ['422 body.schema', signed('{"recipe":"trio","tasks":0}')],
      ['422 body.schema', signed('{"recipe":"trio","rounds":1e9}')],
      ['422 body.schema', signed('{"recipe":"trio","nonsense":1}')],
      ['422 body.schema', signed('{"recipe":"../trio"}')],
      ['422 recipe.unknown', signed('{"recipe":"quartet"}')],
      ['422 run.reward', signed('{"recipe":"trio","rewardFunction":"money"}')],
      ['422 run.freeze', signed('{"recipe":"trio","freeze":["solver"]}')],
      ['422 policy.missing', signed('{"recipe":"trio","policy":"nobody"}')],
      ['422 policy.start', signed('{"recipe":"ragen"}')],
    ];
    for (const [expected, response] of cases) expect(await refusal(await response)).toBe(expected);
    expect(await roundCount()).toBe(0);
  });

  test('counts each delivery once, ours and GitHub’s', async () => {
    const headers = scene.signed(good);
    const statuses = await Promise.all([1, 2, 3].map(async () => (await scene.hook(good, headers)).status));
    expect(statuses.sort()).toEqual([202, 409, 409]);
    const dispatch = JSON.stringify({ action: 'go', client_payload: JSON.parse(good) });
    const hub = {
      'x-hub-signature-256': `sha256=${createHmac('sha256', scene.mesh.secrets.WEBHOOK_SECRET).update(dispatch).digest('hex')}`,
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-github-event': 'repository_dispatch',
    };
    expect((await scene.hook(dispatch, { ...hub, 'x-github-event': 'ping' })).status).toBe(200);
    const first = await scene.hook(dispatch, hub);
    expect(first.status).toBe(202);
    expect(await first.json()).toMatchObject({ rounds: 2 });
    expect(await refusal(await scene.hook(dispatch, hub))).toBe('409 delivery.replay');
    expect(await roundCount()).toBe(1);
  });
});

describe('versions', () => {
  const file = (policy: string, name = 'config.json') => `/api/policies/${policy}/versions/0/files/${name}`;

  test('files are taken with the hash they name, and only those that a version may hold', async () => {
    const put = (path: string, body: string, hash: string) =>
      send('PUT', path, body, { ...learner(), 'x-sha256': hash });
    expect(await refusal(await put(file('v'), '{}', sha256('{ }')))).toBe('422 version.hash');
    expect(await refusal(await put(file('v'), '{}', 'beef'))).toBe('422 version.sha256');
    expect(await refusal(await put(file('v', 'evil.sh'), '{}', sha256('{}')))).toBe('422 version.file');
    expect(await refusal(await put(file('V'), '{}', sha256('{}')))).toBe('422 policy.name');
    expect((await put(file('v'), '{}', sha256('{}'))).status).toBe(201);
    expect((await put(file('v'), '{}', sha256('{}'))).status).toBe(200);
    expect((await put(file('v'), '{"a":1}', sha256('{"a":1}'))).status).toBe(201);
  });

  test('a manifest holds only if its files do, and only once', async () => {
    const files = await scene.gateway.getVersion({ name: 'arithmetic-base', version: 0 });
    const about = { policy: 'again', version: 0, parent: null, groups: [], round: null, settings: {} };
    expect((await scene.gateway.putVersion(files, about)).created).toBe(true);
    expect((await scene.gateway.putVersion(files, about)).created).toBe(false);
    // A learner that was started again drew another share for its audit: the version is the same.
    const audit = { fraction: 0.02, drawSeed: 'of another start' };
    expect((await scene.gateway.putVersion(files, { ...about, audit })).created).toBe(false);
    const manifest = await scene.gateway.getManifest({ name: 'again', version: 0 });
    const put = (body: object, n = 0) =>
      send('PUT', `/api/policies/again/versions/${n}`, JSON.stringify(body));
    expect(await refusal(await put({ ...manifest, settings: { other: 1 } }))).toBe('409 version.committed');
    expect(await refusal(await put({ ...manifest, version: 1 }, 0))).toBe('422 version.path');
    expect(await refusal(await put({ ...manifest, version: 1, parent: 0 }, 1))).toBe('422 version.files');
    expect(await refusal(await put({ ...manifest, version: 3, parent: 0 }, 3))).toBe('409 version.number');
    expect(await refusal(await put({ ...manifest, version: 1, parent: 7 }, 1))).toBe('409 version.parent');
    expect(await refusal(await put({ ...manifest, version: 1, parent: 0, round: ID }, 1))).toBe(
      '409 version.round',
    );
    const bytes = JSON.stringify({ other: true });
    const late = send('PUT', file('again'), bytes, { ...learner(), 'x-sha256': sha256(bytes) });
    expect(await refusal(await late)).toBe('409 version.committed');
    expect((await scene.gateway.getPolicy('again'))?.current).toBe(0);
  });

  test('weights of another model are not those that a manifest names', async () => {
    const files = await scene.gateway.getVersion({ name: 'arithmetic-base', version: 0 });
    const manifest = await scene.gateway.getManifest({ name: 'arithmetic-base', version: 0 });
    const weights = files['model.safetensors']!.slice();
    new DataView(weights.buffer).setFloat32(weights.length - 8, 0.5, true);
    for (const [file, bytes] of Object.entries({ ...files, 'model.safetensors': weights })) {
      const headers = {
        ...learner(),
        'x-sha256': createHash('sha256').update(bytes).digest('hex'),
        ...ALONE,
      };
      const url = `${scene.mesh.url}/api/policies/swap/versions/0/files/${file}`;
      expect((await fetch(url, { method: 'PUT', body: bytes.slice(), headers })).status).toBe(201);
    }
    const swapped = JSON.stringify({ ...manifest, policy: 'swap' });
    expect(await refusal(await send('PUT', '/api/policies/swap/versions/0', swapped))).toBe(
      '422 version.files',
    );
  });

  test('weights that are no finite numbers never become a version', async () => {
    const files = await scene.gateway.getVersion({ name: 'arithmetic-base', version: 0 });
    const weights = files['model.safetensors']!.slice();
    new DataView(weights.buffer).setFloat32(weights.length - 8, Number.NaN, true);
    const about = { policy: 'nan', version: 0, parent: null, groups: [], round: null, settings: {} };
    const committed = scene.gateway.putVersion({ ...files, 'model.safetensors': weights }, about);
    await expect(committed).rejects.toMatchObject({ code: 'checkpoint.not-finite' });
    const torn = { ...files, 'model.safetensors': files['model.safetensors']!.slice(0, -100) };
    await expect(scene.gateway.putVersion(torn, { ...about, policy: 'torn' })).rejects.toMatchObject({
      kind: 'wrong-input',
    });
    expect(await scene.gateway.getPolicy('nan')).toBeNull();
    expect(await scene.gateway.getPolicy('torn')).toBeNull();
  });
});

describe('a tokenizer put there with the learner’s token', () => {
  let files: VersionFiles;
  let slow: Uint8Array;
  beforeAll(async () => {
    files = await scene.gateway.getVersion({ name: 'arithmetic-base', version: 0 });
    const tokenizer = JSON.parse(new TextDecoder().decode(files['tokenizer.json'])) as object;
    const normalizer = { type: 'Replace', pattern: { Regex: '(a+)+$' }, content: '' };
    slow = new TextEncoder().encode(JSON.stringify({ ...tokenizer, normalizer }));
  });
  const aboutOf = (policy: string) => ({
    ...{ policy, version: 0, parent: null, groups: [], round: null, settings: {} },
  });

  test('becomes no version where one of its expressions may take long', async () => {
    await expect(
      scene.gateway.putVersion({ ...files, 'tokenizer.json': slow }, aboutOf('slow')),
    ).rejects.toMatchObject({ kind: 'wrong-input', code: 'tokenizer.pattern' });
    expect(await scene.gateway.getPolicy('slow')).toBeNull();
  });

  test('nor where it lies in shards, beside a harmless file of its name', async () => {
    const policy = 'slow-in-shards';
    const path = `${scene.mesh.url}/api/policies/${policy}/versions/0`;
    const put = async (to: string, body: Uint8Array | string) => {
      const response = await fetch(`${path}${to}`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}`,
          'x-sha256': sha256Hex(typeof body === 'string' ? new TextEncoder().encode(body) : body),
        },
        body: body as BodyInit,
      });
      return { status: response.status, text: await response.text() };
    };
    for (const [file, bytes] of fileEntries(files))
      expect((await put(`/files/${file}`, bytes)).status).toBe(201);
    const shards = [slow.slice(0, 1000), slow.slice(1000)];
    for (const [i, bytes] of shards.entries())
      expect((await put(`/files/${shardName('tokenizer.json', i)}`, bytes)).status).toBe(201);
    const entryOf = (bytes: Uint8Array) => ({ sha256: sha256Hex(bytes), bytes: bytes.length });
    const entries = Object.fromEntries(fileEntries(files).map(([file, bytes]) => [file, entryOf(bytes)]));
    const tokenizer = { ...entryOf(slow), shards: shards.map(entryOf) };
    const manifest = { ...aboutOf(policy), files: { ...entries, 'tokenizer.json': tokenizer } };
    expect(await put('', JSON.stringify(manifest))).toMatchObject({
      status: 422,
      text: expect.stringContaining('tokenizer.pattern'),
    });
    expect(await scene.gateway.getPolicy(policy)).toBeNull();
  });
});

describe('tokens', () => {
  test('only the judge has the key of the seals, and only the gateway the tokens of those who ask', async () => {
    const { WEBHOOK_SECRET, LEARNER_TOKEN, MESH_KEY } = scene.mesh.secrets;
    const holders: Record<string, string[]> = {};
    for (const worker of WORKER_NAMES) {
      const values = Object.values(await scene.mesh.mf.getBindings(`rollmesh-${worker}`));
      holders[worker] = Object.entries({ WEBHOOK_SECRET, LEARNER_TOKEN, MESH_KEY })
        .filter(([, secret]) => values.includes(secret))
        .map(([name]) => name);
    }
    expect(holders).toEqual({
      gateway: ['WEBHOOK_SECRET', 'LEARNER_TOKEN'],
      proposer: [],
      rollout: [],
      judge: ['MESH_KEY'],
    });
  });

  test('writing needs the learner’s, and nothing that looks like it', async () => {
    const routes: [string, string][] = [
      ['GET', '/api/objects/policies/arithmetic-base/0/config.json'],
      ['PUT', '/api/policies/arithmetic-base/versions/1'],
      ['PUT', '/api/policies/arithmetic-base/versions/1/files/config.json'],
      ['POST', '/api/policies/arithmetic-base/rollback'],
      ['POST', `/api/runs/${ID}/stop`],
      ['POST', `/api/rounds/${ID}/report`],
      ['POST', `/api/rounds/${ID}/groups/${ID}/failure`],
      ['POST', '/api/dead-letters/replay'],
      ['POST', `/api/dead-letters/${ID}/replay`],
    ];
    const { LEARNER_TOKEN, WEBHOOK_SECRET } = scene.mesh.secrets;
    const wrong = [
      '',
      'Bearer',
      'Bearer ',
      `Bearer ${WEBHOOK_SECRET}`,
      `Basic ${LEARNER_TOKEN}`,
      `Bearer ${LEARNER_TOKEN.slice(1)}`,
      `Bearer ${LEARNER_TOKEN}0`,
      `Bearer ${LEARNER_TOKEN.toUpperCase()}x`,
    ];
    for (const [method, path] of routes)
      for (const authorization of wrong) {
        const response = await fetch(scene.mesh.url + path, { method, headers: { authorization, ...ALONE } });
        expect(await refusal(response)).toBe('401 token.wrong');
      }
  });

  test('the page and every answer carry the strict policy', async () => {
    for (const path of ['/', '/app.js', '/api/rounds', '/api/nothing', '/healthz']) {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

/** Sends a path as it is: fetch would tidy it up. */
const rawStatus = (method: string, path: string, headers: Record<string, string>, body: string) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(scene.mesh.url);
    const outgoing = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    outgoing.on('error', (cause) =>
      reject(new Error(`${method} ${path} ${body.length} ${JSON.stringify(headers)}`, { cause })),
    );
    outgoing.end(body);
  });

/** HOSTILE=10000 makes a long run of it. */
const HOSTILE = Number(process.env.HOSTILE ?? 1200);

test(`${HOSTILE} hostile requests: none taken, no 500, no stack`, async () => {
  const random = new Random('hostile/1');
  const tricks = [
    '..',
    '%2e%2e',
    '%2e%2e%2f',
    '%00',
    '%ff',
    '%',
    '%zz',
    '\\..\\',
    '.',
    '~',
    'a'.repeat(300),
    ID,
    '-1',
    '1e999',
    'NaN',
    'null',
    "'; DROP TABLE rounds;--",
    '{"$ne":1}',
    'arithmetic-base',
    '0',
    'config.json',
    'manifest.json',
    '<script>',
    '🦜',
    'constructor',
    '__proto__',
  ];
  const segments = [
    'api',
    'rounds',
    'runs',
    'policies',
    'objects',
    'samples',
    'dead-letters',
    'versions',
    'files',
    'groups',
    'report',
    'failure',
    'replay',
    'rollback',
    'metrics',
    'hooks',
    'healthz',
    'cdn-cgi',
  ];
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const bodies = [
    '',
    '{}',
    '[]',
    'null',
    '0',
    '"x"',
    '{"recipe":"trio"}',
    '{"recipe":',
    deep(20_000),
    '\u0000',
    '{"__proto__":{"x":1}}',
    `{"version":0,"reason":"${'x'.repeat(300)}"}`,
    '{"kind":"retry"}',
    'x'.repeat(70_000),
  ];
  const ascii = (text: string) =>
    encodeURI(text.replaceAll('%', '\u0001'))
      .replaceAll('%01', '%')
      .replace(/[^\x21-\x7e]/g, '');
  const before = await roundCount();
  const answers = new Map<number, number>();
  for (let i = 0; i < HOSTILE; i++) {
    const part = () => (random.bool(0.6) ? random.pick(segments) : ascii(random.pick(tricks)));
    const query = random.bool(0.3)
      ? `?${random.pick(['limit', 'run', 'round', 'state', 'x'])}=${part()}`
      : '';
    const path = `/${Array.from({ length: random.int(7) }, part).join('/')}${query}`;
    const method = random.pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']);
    const body = method === 'GET' || method === 'HEAD' ? '' : random.pick(bodies);
    const headers: Record<string, string> = {
      ...(random.bool(0.5) ? learner() : {}),
      ...(random.bool(0.2) ? { 'x-sha256': random.pick(['', 'g'.repeat(64), sha256(body)]) } : {}),
      ...(random.bool(0.2)
        ? { 'webhook-signature': random.pick(['v1,0', `v1,${'0'.repeat(44)}`, 'x'.repeat(9000)]) }
        : {}),
      'content-length': String(Buffer.byteLength(body)),
    };
    const { status, text } = await rawStatus(method, path, headers, body);
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if (status >= 500 || /\bat .*:\d+:\d+|node_modules|\.ts:/.test(text))
      throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
    for (const secret of Object.values(scene.mesh.secrets)) expect(text).not.toContain(secret);
  }
  expect(await roundCount()).toBe(before);
  expect([...answers.keys()].filter((status) => status === 202)).toEqual([]);
});
