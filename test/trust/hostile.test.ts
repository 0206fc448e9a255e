import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { episodeToken, runToken } from '../../core/net/agent-token.ts';
import { fileEntries } from '../../core/schema/policy.ts';
import { openScene, type Scene } from '../mesh/scene.ts';
import { type RawRequest, type RawResponse, send } from './requests.ts';
import {
  type Spoiler,
  signGithub,
  signStandard,
  tooMuch,
  withHeader,
  wrongGithub,
  wrongMethods,
  wrongOrders,
  wrongPaths,
  wrongSignatures,
  wrongTokens,
} from './spoilers.ts';

/** HOSTILE=10000 makes a long run of it. */
const REQUESTS = Number(process.env.HOSTILE ?? 1500);
const GATEWAY = 'rollmesh-gateway';
/** The id of nothing. */
const NOBODY = '0'.repeat(32);
const READ_TOKEN = 'a-token-for-readers'.padEnd(64, '0');
/** What each credential is about to be replaced by. */
const NEXT = {
  WEBHOOK_SECRET_NEXT: 'the-next-secret'.padEnd(64, '1'),
  LEARNER_TOKEN_NEXT: 'the-next-token-of-the-learner'.padEnd(64, '1'),
  READ_TOKEN_NEXT: 'the-next-token-for-readers'.padEnd(64, '1'),
};

let scene: Scene;
let routes: readonly Route[];

interface Route {
  readonly name: string;
  /** A right request; `n` makes it another one. */
  readonly right: (n: number) => RawRequest;
  readonly accepted: number;
  /** What makes it wrong. */
  readonly spoilers: readonly Spoiler[];
}

const text = (value: string) => new TextEncoder().encode(value);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const now = () => Date.now() / 1000;
const json = (value: unknown) => text(JSON.stringify(value));

/** A value that makes a field of a JSON body wrong; the request stays authorised. */
const wrongFields = (fields: Readonly<Record<string, readonly unknown[]>>): Spoiler =>
  fc
    .constantFrom(
      ...Object.entries(fields).flatMap(([field, values]) => values.map((value) => ({ field, value }))),
    )
    .map(({ field, value }) => (request: RawRequest) => {
      const body = JSON.parse(new TextDecoder().decode(request.body)) as Record<string, unknown>;
      return { ...request, body: json({ ...body, [field]: value }) };
    });

const brokenJson: Spoiler = fc
  .oneof(fc.uint8Array({ maxLength: 60 }), fc.constantFrom(text('{'), text('[1]'), text('null'), text('"x"')))
  .map((body) => (request: RawRequest) => ({ ...request, body }));

function routesOf({ mesh: { secrets } }: Scene, round: string, group: string, manifest: object): Route[] {
  const { WEBHOOK_SECRET, LEARNER_TOKEN, MESH_KEY } = secrets;
  const others = [WEBHOOK_SECRET, MESH_KEY, READ_TOKEN];
  const authorised = { authorization: `Bearer ${LEARNER_TOKEN}` };
  const tokens = wrongTokens(LEARNER_TOKEN, others);
  const learner = (
    name: string,
    method: string,
    path: string,
    body: Uint8Array,
    accepted: number,
    spoilers: readonly Spoiler[],
    headers: Readonly<Record<string, string>> = {},
  ): Route => ({
    name,
    accepted,
    right: () => ({ method, path, headers: { ...authorised, ...headers }, body }),
    spoilers: [tokens, wrongMethods, tooMuch, ...spoilers],
  });
  const ofNobody = episodeToken(LEARNER_TOKEN, `${NOBODY}-0`);
  /** Agents have tokens of their own, and the learner's opens nothing of theirs. */
  const agent = (
    name: string,
    path: string,
    token: string,
    body: object,
    accepted: number,
    spoilers: readonly Spoiler[],
  ): Route => ({
    name,
    accepted,
    right: () => ({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${token}` },
      body: json(body),
    }),
    spoilers: [
      wrongTokens(token, [...others, LEARNER_TOKEN, runToken(LEARNER_TOKEN, '1'.repeat(32))]),
      wrongMethods,
      tooMuch,
      wrongPaths(2),
      ...spoilers,
    ],
  });
  /** Opened by the reader's token and by the learner's. */
  const environment = (
    name: string,
    path: string,
    body: object,
    accepted: number,
    spoilers: readonly Spoiler[],
  ): Route => ({
    name,
    accepted,
    right: () => ({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${READ_TOKEN}`, 'x-session-id': 'hostile' },
      body: json(body),
    }),
    spoilers: [
      wrongTokens(READ_TOKEN, [WEBHOOK_SECRET, MESH_KEY]),
      wrongMethods,
      tooMuch,
      brokenJson,
      ...spoilers,
    ],
  });
  const order = (n: number) => json({ recipe: 'trio', seed: 5000 + n, tasks: 1, groupSize: 2 });
  const hook = (body: Uint8Array): RawRequest => ({
    method: 'POST',
    path: '/hooks/rounds',
    headers: {},
    body,
  });
  const sign = (id: string) => signStandard(WEBHOOK_SECRET, id, Math.floor(now()));
  const signed = (change: (request: RawRequest) => RawRequest) => (request: RawRequest) =>
    sign(request.headers['webhook-id']!)(change(request));
  const file = text('{"model_type":"llama"}');
  const wrongHash = fc.constantFrom(
    withHeader('x-sha256', null),
    withHeader('x-sha256', ''),
    withHeader('x-sha256', sha256(file).toUpperCase()),
    withHeader('x-sha256', sha256(file).slice(1)),
  );
  return [
    {
      name: 'webhook',
      accepted: 202,
      right: (n) => sign(`message-${n}`)(hook(order(n))),
      spoilers: [
        wrongSignatures(WEBHOOK_SECRET, [LEARNER_TOKEN, MESH_KEY, READ_TOKEN, `${WEBHOOK_SECRET} `], now),
        wrongSignatures(WEBHOOK_SECRET, [LEARNER_TOKEN, MESH_KEY, READ_TOKEN, `${WEBHOOK_SECRET} `], now),
        wrongOrders.map(signed),
        wrongMethods,
        tooMuch,
        wrongPaths(1),
      ],
    },
    {
      name: 'webhook from GitHub',
      accepted: 202,
      right: (n) =>
        signGithub(
          WEBHOOK_SECRET,
          `delivery-${n}-${process.pid}`,
        )({
          ...hook(
            json({
              action: 'train',
              client_payload: { recipe: 'trio', seed: 9000 + n, tasks: 1, groupSize: 2 },
            }),
          ),
          headers: { 'x-github-event': 'repository_dispatch' },
        }),
      spoilers: [wrongGithub([LEARNER_TOKEN, MESH_KEY, READ_TOKEN])],
    },
    learner(
      'file of a version',
      'PUT',
      '/api/policies/spare/versions/0/files/config.json',
      file,
      201,
      [
        wrongPaths(4),
        wrongHash,
        fc.constantFrom(
          withHeader('x-sha256', sha256(text('other'))),
          (request: RawRequest) => ({ ...request, body: text('{"model_type":"qwen2"}') }),
          (request: RawRequest) => ({ ...request, body: text('') }),
        ),
      ],
      { 'x-sha256': sha256(file) },
    ),
    // In the order of an upload: what is spoiled is spoiled before any is begun.
    learner(
      'an upload in parts',
      'POST',
      '/api/policies/spare/versions/0/files/tokenizer.json/parts',
      json({ bytes: file.length }),
      200,
      [
        wrongPaths(4),
        brokenJson,
        wrongHash,
        wrongFields({ bytes: [0, -1, 0.5, null, '9', 96 << 20, 1e300] }),
      ],
      { 'x-sha256': sha256(file) },
    ),
    learner(
      'a part',
      'PUT',
      '/api/policies/spare/versions/0/files/tokenizer.json/parts/1',
      file,
      201,
      [wrongPaths(4), wrongHash],
      { 'x-sha256': sha256(file) },
    ),
    learner(
      'the end of an upload in parts',
      'POST',
      '/api/policies/spare/versions/0/files/tokenizer.json/parts/join',
      text(''),
      201,
      [wrongPaths(4), wrongHash],
      { 'x-sha256': sha256(file) },
    ),
    learner('an object of tasks', 'PUT', `/api/tasks/${sha256(file)}`, file, 201, [
      wrongPaths(3),
      fc.constantFrom(
        (request: RawRequest) => ({ ...request, path: `/api/tasks/${sha256(text('other'))}` }),
        (request: RawRequest) => ({
          ...request,
          path: request.path.toUpperCase().replace('/API/TASKS', '/api/tasks'),
        }),
        (request: RawRequest) => ({ ...request, body: text('{"model_type":"qwen2"}') }),
        (request: RawRequest) => ({ ...request, body: text('') }),
      ),
    ]),
    learner('missing objects of tasks', 'POST', '/api/tasks/missing', json({ sha256: [sha256(file)] }), 200, [
      wrongPaths(3),
      brokenJson,
      wrongFields({
        sha256: [null, 'x', [7], ['x'], [sha256(file).toUpperCase()], Array(501).fill('0'.repeat(64))],
      }),
    ]),
    learner('commit', 'PUT', '/api/policies/ready/versions/0', json(manifest), 201, [
      wrongPaths(3),
      brokenJson,
      wrongFields({
        policy: ['arithmetic-base', 'READY', '../ready', null, 7],
        version: [1, -1, 0.5, '0', null, 2 ** 53],
        parent: [0, 7, '0', -1],
        groups: [null, ['x'], [1], {}],
        round: [round.slice(1), '0'.repeat(32), 7],
        files: [
          {},
          null,
          { 'config.json': { sha256: '0'.repeat(64), bytes: 1 } },
          { '../x': { sha256: '0'.repeat(64), bytes: 1 } },
        ],
        settings: [null, 'x', 7],
      }),
    ]),
    learner(
      'rollback',
      'POST',
      '/api/policies/arithmetic-base/rollback',
      json({ version: 0, reason: 'test' }),
      200,
      [
        wrongPaths(3),
        brokenJson,
        wrongFields({ version: [1, -1, '0', null, 1.5, 2 ** 60], reason: ['', 'x'.repeat(201), null, 7] }),
      ],
    ),
    learner(
      'prune',
      'POST',
      '/api/policies/arithmetic-base/prune',
      json({ keep: 1, withdrawnDays: 7, dryRun: true }),
      200,
      [
        wrongPaths(3),
        brokenJson,
        wrongFields({
          keep: [0, -1, '1', null, 1.5, 2 ** 60],
          withdrawnDays: [-1, '7', null, 1e9],
          dryRun: ['true', 1, null],
        }),
      ],
    ),
    learner('report', 'POST', `/api/rounds/${round}/report`, json({ learnerMs: 1 }), 200, [
      wrongPaths(3),
      fc.oneof(
        brokenJson,
        wrongFields({ learnerMs: ['1', {}, []] }),
        fc.constant((request: RawRequest) => ({
          ...request,
          body: text(`{"learnerMs":1,"x":"${'x'.repeat(1_100_000)}"}`),
        })),
      ),
    ]),
    learner(
      'refused group',
      'POST',
      `/api/rounds/${round}/groups/${group}/failure`,
      json({ kind: 'give-up', code: 'x', message: 'x' }),
      200,
      [
        wrongPaths(3),
        brokenJson,
        wrongFields({ kind: ['zero', null, 0], code: [null, 'x'.repeat(65)], message: [7, 'x'.repeat(501)] }),
      ],
    ),
    learner(
      'round given up',
      'POST',
      `/api/rounds/${'0'.repeat(32)}/failure`,
      json({ kind: 'give-up', code: 'x', message: 'x', attempts: 5 }),
      404,
      [
        wrongPaths(3),
        brokenJson,
        wrongFields({
          kind: ['zero', null, 0],
          attempts: [null, -1, '5', 0.5],
          message: [7, 'x'.repeat(501)],
        }),
      ],
    ),
    learner('stop', 'POST', `/api/runs/${'0'.repeat(32)}/stop`, json({ reason: 'test' }), 404, [
      wrongPaths(3),
      brokenJson,
      wrongFields({ reason: ['', 'x'.repeat(201), null, 7] }),
    ]),
    learner('resume', 'POST', `/api/runs/${NOBODY}/resume`, text(''), 404, [wrongPaths(3)]),
    learner(
      'label',
      'PUT',
      `/api/runs/${'0'.repeat(32)}/label`,
      json({ name: 'a', tags: [], hidden: false }),
      404,
      [
        wrongPaths(3),
        brokenJson,
        wrongFields({
          name: ['', ' ', 'x'.repeat(81), 7],
          tags: [null, 'a', ['A'], ['a b'], ['-a'], Array.from({ length: 17 }, (_, i) => `t${i}`)],
          hidden: [null, 'yes', 1],
        }),
      ],
    ),
    {
      name: 'an image',
      accepted: 404,
      right: () => ({
        method: 'GET',
        path: `/api/images/${'0'.repeat(64)}`,
        headers: { authorization: `Bearer ${READ_TOKEN}` },
        body: text(''),
      }),
      spoilers: [wrongTokens(READ_TOKEN, [WEBHOOK_SECRET, MESH_KEY]), wrongMethods, tooMuch, wrongPaths(3)],
    },
    learner('access of agents', 'GET', `/api/runs/${NOBODY}/agents`, text(''), 404, [wrongPaths(2)]),
    agent('episode', `/agents/runs/${NOBODY}/episodes`, runToken(LEARNER_TOKEN, NOBODY), {}, 404, [
      brokenJson,
      wrongFields({ key: ['', 'x'.repeat(129), null, 7, {}], other: [1] }),
    ]),
    agent('reward', `/agents/episodes/${NOBODY}-0/reward`, ofNobody, { reward: 1 }, 422, [
      brokenJson,
      wrongFields({ reward: ['1', null, true, [1], {}], rewards: [{}, null, 1], other: [1] }),
    ]),
    agent(
      'call of an agent',
      `/agents/episodes/${NOBODY}-0/v1/chat/completions`,
      ofNobody,
      { model: 'm', messages: [{ role: 'user', content: 'x' }] },
      422,
      [brokenJson],
    ),
    environment('session', '/environments/create', { env_name: 'lake', split: 'train', index: 0 }, 200, [
      wrongFields({
        env_name: ['', 'fly', null, 7, 'x'.repeat(65)],
        split: ['', 'exam', null, ['train']],
        index: [-1, 0.5, '0', null, 1e9],
      }),
    ]),
    environment('call of a tool', '/environments/lake/call', { name: 'act', input: { actions: 'u' } }, 200, [
      wrongFields({ name: ['', null, 7, 'x'.repeat(65)], input: [null, 'x', 7], task_id: [7, {}] }),
    ]),
    learner('delete', 'DELETE', `/api/runs/${'0'.repeat(32)}`, text(''), 404, [wrongPaths(2)]),
    learner('object', 'GET', `/api/objects/rounds/${round}/proposals.json`, text(''), 200, [wrongPaths(3)]),
    learner('replay', 'POST', `/api/dead-letters/${'0'.repeat(32)}/replay`, text(''), 404, [wrongPaths(3)]),
    learner('replay of all', 'POST', '/api/dead-letters/replay', text(''), 200, [
      // A longer path may be that of a single replay, which has an entry of its own.
      fc.constantFrom(
        ...['/', '//', '/x', '%00', ';x'].map((tail) => (request: RawRequest) => ({
          ...request,
          path: request.path + tail,
        })),
      ),
    ]),
  ];
}

beforeAll(async () => {
  scene = await openScene({ vars: { READ_TOKEN, ...NEXT } });
  const { round } = await scene.order({
    recipe: 'trio',
    seed: 4999,
    tasks: 1,
    groupSize: 2,
    engine: 'kernels',
  });
  const state = await scene.reach(round, ['training']);
  const [group] = await scene.gateway.getGroups(state.id);
  // Files that are there, and whose manifest is not: all that a commit needs.
  const files = await scene.gateway.getVersion({ name: 'arithmetic-base', version: 0 });
  const entries: Record<string, { sha256: string; bytes: number }> = {};
  for (const [file, bytes] of fileEntries(files)) {
    entries[file] = { sha256: sha256(bytes), bytes: bytes.length };
    await send(scene.mesh.url, {
      method: 'PUT',
      path: `/api/policies/ready/versions/0/files/${file}`,
      headers: {
        authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}`,
        'x-sha256': sha256(bytes),
      },
      body: bytes,
    });
  }
  const manifest = {
    policy: 'ready',
    version: 0,
    parent: null,
    files: entries,
    groups: [],
    round: null,
    settings: {},
  };
  routes = routesOf(scene, round, group!.group, manifest);
  await (await scene.mesh.mf.getR2Bucket('BUCKET', GATEWAY)).put(
    'private/secret.json',
    'canary-in-the-bucket',
  );
});
afterAll(() => scene.stop());

/** What must be the same after any number of refused requests. */
async function fingerprint(): Promise<string> {
  const db = await scene.mesh.mf.getD1Database('DB', GATEWAY);
  const bucket = await scene.mesh.mf.getR2Bucket('BUCKET', GATEWAY);
  const tables = [
    ...['runs', 'rounds', 'groups', 'policies', 'versions', 'deliveries', 'dead_letters'],
    ...['episodes', 'calls'],
  ];
  const rows = await Promise.all(
    tables.map(async (table) => (await db.prepare(`SELECT * FROM ${table}`).all()).results),
  );
  const { objects } = await bucket.list();
  return JSON.stringify([rows, objects.map(({ key, etag }) => [key, etag])]);
}

const STACK = /\bat .*:\d+:\d+|node_modules|\.[jt]s:\d+|[a-z]Error:|D1_ERROR|SQLITE/;

function checkAnswer({ status, text: answer }: RawResponse): void {
  expect(status).toBeLessThan(500);
  expect(answer).not.toMatch(STACK);
  expect(answer).not.toContain('canary');
  for (const secret of Object.values(scene.mesh.secrets)) expect(answer).not.toContain(secret);
}

test(`${REQUESTS} requests with one thing wrong change nothing and are refused in order`, {
  timeout: 900_000,
}, async () => {
  const before = await fingerprint();
  const right = new Set([...routes.map((route) => route.right(0).path), '/api/dead-letters/replay']);
  const spoiled = fc
    .constantFrom(...routes)
    .chain((route) => fc.tuple(fc.constant(route), fc.nat(1_000_000), fc.oneof(...route.spoilers)));
  for (const [route, n, spoil] of fc.sample(spoiled, { numRuns: REQUESTS, seed: 1 })) {
    const request = spoil(route.right(n));
    const answer = await send(scene.mesh.url, request);
    checkAnswer(answer);
    // Dots in a path lead elsewhere before anybody sees them; where that is a right place, nothing is wrong.
    const tidied = new URL(request.path, scene.mesh.url).pathname;
    if (tidied !== request.path && right.has(tidied)) continue;
    if (answer.status < 400)
      throw new Error(
        `${route.name}, ${answer.status}: ${request.method} ${request.path.slice(0, 200)} ${JSON.stringify(request.headers).slice(0, 600)} ${new TextDecoder().decode(request.body).slice(0, 200)}`,
      );
  }
  expect(await fingerprint()).toBe(before);
});

test('the same requests with nothing wrong are taken, webhooks once', async () => {
  for (const route of routes) {
    const request = route.right(0);
    expect([route.name, (await send(scene.mesh.url, request)).status]).toEqual([route.name, route.accepted]);
    if (route.accepted === 202) expect((await send(scene.mesh.url, request)).status).toBe(409);
  }
});

test('each of the four tokens opens its own doors, and no other', async () => {
  const { WEBHOOK_SECRET, LEARNER_TOKEN, MESH_KEY } = scene.mesh.secrets;
  const tokens = { WEBHOOK_SECRET, LEARNER_TOKEN, MESH_KEY, READ_TOKEN };
  const opened = async (request: RawRequest) => {
    const names: string[] = [];
    for (const [name, token] of Object.entries(tokens)) {
      const headers = { ...request.headers, authorization: `Bearer ${token}` };
      if ((await send(scene.mesh.url, { ...request, headers })).status !== 401) names.push(name);
    }
    return names;
  };
  const learners = routes.filter(
    (route) => route.right(0).headers.authorization === `Bearer ${LEARNER_TOKEN}`,
  );
  expect(learners.length).toBeGreaterThanOrEqual(8);
  for (const { name, right } of learners)
    expect([name, await opened(right(0))]).toEqual([name, ['LEARNER_TOKEN']]);
  for (const [who, opens] of Object.entries(ONLY_TOKENS))
    for (const route of opens) {
      const [method, path] = route.split(' ') as [string, string];
      const request = { method, path: path.replaceAll(/:\w+/g, '0'.repeat(32)), headers: {}, body: text('') };
      expect([route, await opened(request)]).toEqual([route, who.split(' ').filter(Boolean)]);
    }
});

/** The routes that are tried here with the four tokens only, by the tokens that open them; no token here opens those of nodes. */
const ONLY_TOKENS: Readonly<Record<string, readonly string[]>> = {
  'LEARNER_TOKEN READ_TOKEN': [
    'GET /metrics',
    'GET /api/dead-letters',
    'GET /api/nodes',
    'GET /api/policies',
    'GET /api/policies/:name',
    'GET /api/recipes/:name',
    'GET /api/rounds',
    'GET /api/rounds/:id',
    'GET /api/rounds/:id/contents',
    'GET /api/rounds/:id/groups',
    'GET /api/rounds/:id/groups/:group',
    'GET /api/rounds/:id/proposals',
    'GET /api/rounds/:id/shares',
    'GET /api/runs',
    'GET /api/runs/:id',
    'GET /api/samples/:id',
    'GET /environments/:environment/prompt',
    'GET /environments/:environment/splits',
    'GET /environments/:environment/task_tools',
    'GET /environments/:environment/tools',
    'GET /environments/health',
    'GET /environments/list_environments',
    'GET /v1/models',
    'GET /v1/models/:model',
    'POST /api/rounds/:id/held-out',
    'POST /api/samples/:id/redraw',
    'POST /environments/:environment/num_tasks',
    'POST /environments/:environment/task',
    'POST /environments/create_session',
    'POST /environments/delete',
    'POST /environments/delete_session',
    'POST /environments/ping',
    'POST /inference/v1/generate',
    'POST /v1/chat/completions',
    'POST /v1/completions',
    'POST /v1/responses',
  ],
  LEARNER_TOKEN: [
    'GET /api/rounds/:id/work',
    'POST /api/nodes',
    'POST /api/nodes/:id/shut-out',
    'POST /api/nodes/:name/revoke',
    'POST /api/nodes/audited',
  ],
  '': [
    'GET /agents/episodes/:episode/v1/models',
    'GET /agents/episodes/:episode/seats/:seat/v1/models',
    'POST /agents/episodes/:episode/inference/v1/generate',
    'POST /agents/episodes/:episode/seats/:seat/inference/v1/generate',
    'POST /agents/episodes/:episode/seats/:seat/v1/chat/completions',
    'POST /agents/episodes/:episode/seats/:seat/v1/completions',
    'POST /agents/episodes/:episode/seats/:seat/v1/responses',
    'POST /agents/episodes/:episode/reward',
    'POST /agents/episodes/:episode/v1/chat/completions',
    'POST /agents/episodes/:episode/v1/completions',
    'POST /agents/episodes/:episode/v1/responses',
    'POST /agents/runs/:run/episodes',
    'GET /api/work/files/:lease/:sha256',
    'POST /api/work/heartbeat',
    'POST /api/work/lease',
    'POST /api/work/release',
    'POST /api/work/result',
    'POST /api/work/results',
  ],
};
/** Open to everybody: the page's files and the sign of life. */
const OPEN = ['GET /healthz', 'GET /*'];
/** It needs the reader's token and never ends, so that it is tried by itself, in test/workers/callers. */
const STREAM = 'GET /api/events';

test('every route of the gateway is tried here', async () => {
  // Not by its literal name, since the Workers are compiled against other types than the tests.
  const app: string = '../../workers/gateway/app.ts';
  const { gatewayApp } = (await import(app)) as {
    gatewayApp: (services: object) => { routes: readonly { method: string; path: string }[] };
  };
  // Nothing is asked of the services while the routes are put together.
  const table = gatewayApp({}).routes.filter(({ method }) => method !== 'ALL');
  const shapeOf = (path: string) =>
    new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+').replaceAll('*', '.+')}$`);
  const tried = routes.map((route) => route.right(0));
  const known = [...OPEN, STREAM, ...Object.values(ONLY_TOKENS).flat()];
  const untried = table.filter(
    ({ method, path }) =>
      !known.includes(`${method} ${path}`) &&
      !tried.some((request) => request.method === method && shapeOf(path).test(request.path)),
  );
  expect(untried.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  expect(table.length).toBeGreaterThan(40);
});

test('a credential and the one that is to replace it are both valid, each at its own doors', async () => {
  const { WEBHOOK_SECRET, LEARNER_TOKEN } = scene.mesh.secrets;
  const { WEBHOOK_SECRET_NEXT, LEARNER_TOKEN_NEXT, READ_TOKEN_NEXT } = NEXT;
  const status = async (request: RawRequest) => (await send(scene.mesh.url, request)).status;
  const withToken = (method: string, path: string, body: Uint8Array) => (token: string) =>
    status({ method, path, headers: { authorization: `Bearer ${token}` }, body });
  const read = withToken('GET', '/api/rounds', text(''));
  const prune = withToken(
    'POST',
    '/api/policies/arithmetic-base/prune',
    json({ keep: 1, withdrawnDays: 7, dryRun: true }),
  );
  const order = (secret: string, seed: number) =>
    status(
      signStandard(
        secret,
        `order-${seed}`,
        Math.floor(now()),
      )({
        method: 'POST',
        path: '/hooks/rounds',
        headers: {},
        body: json({ recipe: 'trio', seed, tasks: 1, groupSize: 2 }),
      }),
    );
  for (const token of [READ_TOKEN, READ_TOKEN_NEXT, LEARNER_TOKEN, LEARNER_TOKEN_NEXT])
    expect(await read(token)).toBe(200);
  for (const token of [LEARNER_TOKEN, LEARNER_TOKEN_NEXT]) expect(await prune(token)).toBe(200);
  for (const token of [READ_TOKEN_NEXT, WEBHOOK_SECRET_NEXT]) expect(await prune(token)).toBe(401);
  expect(await read(WEBHOOK_SECRET_NEXT)).toBe(401);
  for (const [i, secret] of [WEBHOOK_SECRET, WEBHOOK_SECRET_NEXT].entries())
    expect(await order(secret, 7000 + i)).toBe(202);
  expect(await order(LEARNER_TOKEN_NEXT, 7002)).toBe(401);
});
