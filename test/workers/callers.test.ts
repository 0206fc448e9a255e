/** Who may cause work at the model endpoints, and who may listen to the stream of news. */
import { beforeAll, expect, test } from 'vitest';

let gatewayApp: (services: object) => { request: (path: string, init: object) => Promise<Response> };
beforeAll(async () => {
  // Not by its literal name, since the Workers are compiled against other types than the tests.
  const app: string = '../../workers/gateway/app.ts';
  ({ gatewayApp } = (await import(app)) as { gatewayApp: typeof gatewayApp });
});

const LEARNER = 'the-learners-token'.padEnd(64, '0');

async function answered(
  path: string,
  init: object,
  more: {
    local?: boolean;
    read?: string;
    hooks?: object;
    webhook?: object;
    learner?: string;
    bucket?: object;
  },
) {
  const free = { limit: async () => ({ success: true }) };
  const services = {
    settings: { local: more.local ?? false },
    secrets: {
      read: [more.read, undefined],
      learner: [more.learner ?? LEARNER, undefined],
      webhook: more.webhook,
    },
    bucket: more.bucket,
    limits: { reads: free, hooks: more.hooks ?? free },
    now: () => Date.now(),
  };
  return gatewayApp(services).request(path, init);
}

/** The status at a model endpoint; a caller is let in where it is told that no Worker samples. */
async function statusAt(local: boolean, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return (await answered('/v1/chat/completions', { method: 'POST', headers, body: '{}' }, { local })).status;
}

test('a deployed mesh without a reading token answers the learner alone', async () => {
  expect(await statusAt(false)).toBe(401);
  expect(await statusAt(false, 'a-token-of-somebody'.padEnd(64, '0'))).toBe(401);
  expect(await statusAt(false, LEARNER)).toBe(501);
});

test('a local mesh answers every program of the machine', async () => {
  expect(await statusAt(true)).toBe(501);
});

test('a deployed mesh without a reading token shows nothing to readers, and a local one shows everything', async () => {
  const read = async (path: string, local: boolean, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await answered(path, { headers }, { local })).status;
  };
  for (const path of ['/api/runs', '/metrics', `/api/samples/${'0'.repeat(32)}`, '/api/nothing']) {
    expect(await read(path, false), path).toBe(401);
    expect(await read(path, false, 'a-token-of-somebody'.padEnd(64, '0')), path).toBe(401);
  }
  // Whoever is let in is told that this is no route.
  expect(await read('/api/nothing', false, LEARNER)).toBe(404);
  expect(await read('/api/nothing', true)).toBe(404);
});

test('the stream of news is closed without the reader’s token', async () => {
  const read = 'the-readers-token'.padEnd(64, '0');
  // Who is let in is told that this is no run, and no stream begins.
  const listened = async (token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await answered('/api/events?run=none', { headers }, { read })).status;
  };
  expect(await listened()).toBe(401);
  expect(await listened('a-token-of-somebody'.padEnd(64, '0'))).toBe(401);
  expect(await listened(read)).toBe(422);
});

test('a search for a sample has the limit of what makes the mesh work', async () => {
  const used = { limit: async () => ({ success: false }) };
  expect((await answered(`/api/samples/${'0'.repeat(32)}`, {}, { hooks: used, local: true })).status).toBe(
    429,
  );
});

test('the next secret of webhooks is as long as the present one has to be', async () => {
  const webhook = ['the-webhook-secret'.padEnd(64, '0'), 'short'];
  const init = { method: 'POST', body: '{}' };
  expect((await answered('/hooks/rounds', init, { webhook: webhook.slice(0, 1) })).status).toBe(401);
  const refused = await answered('/hooks/rounds', init, { webhook });
  expect(refused.status).toBe(503);
  expect(await refused.text()).toContain('WEBHOOK_SECRET_NEXT is too short');
});

test('a token that is too short to be a secret opens nothing', async () => {
  const statusWith = async (learner: string) => {
    const headers = { authorization: `Bearer ${learner}` };
    return (await answered('/api/nothing', { headers }, { learner })).status;
  };
  // Who is let in is told that this is no route.
  expect(await statusWith('x'.repeat(16))).toBe(404);
  expect(await statusWith('x'.repeat(15))).toBe(401);
  expect(await statusWith('x')).toBe(401);
});

test('the learner reads objects of rounds and policies, and no other key is asked for', async () => {
  const asked: string[] = [];
  const bucket = {
    get: async (key: string) => {
      asked.push(key);
      return null;
    },
  };
  const headers = { authorization: `Bearer ${LEARNER}` };
  const statusOf = async (key: string) =>
    (await answered(`/api/objects/${key}`, { headers }, { bucket })).status;
  const kept = ['rounds/0a/proposals.json', 'policies/mine/3/model.safetensors'];
  for (const key of kept) expect(await statusOf(key), key).toBe(404);
  for (const key of [
    ...[
      'private/canary.txt',
      'canary',
      'rounds',
      'rounds/',
      'rounds//a',
      'roundsa/b',
      'Rounds/a',
      'rounds/A',
    ],
    ...['rounds/.../a', 'rounds/a/....', 'rounds/%2e%2e%2fprivate', 'rounds/a%00', 'private/rounds/a'],
    `rounds/${'a'.repeat(129)}`,
  ])
    expect(await statusOf(key), key).toBe(422);
  expect(asked).toEqual(kept);
});

test('only Cloudflare’s edge is believed which address a caller has', async () => {
  const counted = async (local: boolean): Promise<string[]> => {
    const keys: string[] = [];
    const hooks = {
      limit: async ({ key }: { key: string }) => {
        keys.push(key);
        return { success: false };
      },
    };
    const headers = { 'cf-connecting-ip': '203.0.113.7', authorization: `Bearer ${LEARNER}` };
    await answered(`/api/samples/${'0'.repeat(32)}`, { headers }, { hooks, local });
    return keys;
  };
  expect(await counted(true)).toEqual(['samples:local']);
  expect(await counted(false)).toEqual(['samples:203.0.113.7']);
});
