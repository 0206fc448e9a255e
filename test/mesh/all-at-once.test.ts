/** Many callers in the same moment, connections that say nothing or something broken, and what the logs hold afterwards. */
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { ALONE, openScene, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ vars: { READ_TOKEN: 'a-token-for-readers' } });
});
afterAll(() => scene.stop());

const healthy = async () =>
  (await fetch(`${scene.mesh.url}/healthz`, { headers: ALONE, signal: AbortSignal.timeout(10_000) })).status;

const order = { recipe: 'trio', seed: 18, tasks: 1, groupSize: 2, rounds: 1, engine: 'kernels' } as const;

test('twenty orders of a run in one moment are twenty rounds, of which one is open', async () => {
  const started = await Promise.all(
    Array.from({ length: 20 }, () => orderRounds(scene.mesh.url, scene.mesh.secrets.WEBHOOK_SECRET, order)),
  );
  const runs = new Set(started.map(({ run }) => run));
  expect(runs.size).toBe(1);
  // Each order is told what is wanted by then, its own and those that came before it.
  expect(Math.max(...started.map(({ rounds }) => rounds))).toBe(20);
  expect((await scene.gateway.listRuns()).map(({ target }) => target)).toEqual([20]);
  expect((await scene.gateway.listRounds([...runs][0]!)).length).toBe(1);
});

test('one delivery twenty times in one moment is one order', async () => {
  const body = JSON.stringify({ ...order, seed: 19 });
  const headers = scene.signed(body);
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await scene.hook(body, headers)).status),
  );
  expect(statuses.sort()).toEqual([202, ...Array(19).fill(409)]);
});

/** What comes back for bytes that are sent as they are, until the other side ends or says nothing for two seconds. */
function raw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(scene.mesh.url);
  return new Promise((resolve) => {
    let said = '';
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(bytes, 'latin1')));
    const end = () => {
      socket.destroy();
      resolve(said);
    };
    socket.setTimeout(2_000, end);
    socket.on('data', (chunk) => {
      said += chunk.toString('latin1');
    });
    socket.on('error', end);
    socket.on('close', end);
  });
}

const HIDDEN = 'POST /hooks/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}';

test.each([
  [
    'two lengths',
    `POST /api/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nContent-Length: 60\r\n\r\n{}`,
  ],
  [
    'a length and chunks',
    `POST /api/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  [
    'chunks that are none',
    `POST /api/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: x, chunked\r\n\r\nzz\r\n`,
  ],
  ['a header with NUL', `GET /api/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: a\0b\r\n\r\n`],
  [
    'a space before the colon',
    `GET /api/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization : Bearer x\r\n\r\n`,
  ],
  ['a folded header', `GET /api/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer\r\n x\r\n\r\n`],
  ['two hosts', `GET /api/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n`],
  ['another host in the target', `GET http://evil.example/api/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`],
  ['no HTTP at all', `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03`],
  [
    'ten gigabytes announced',
    `POST /hooks/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10737418240\r\n\r\n{}`,
  ],
])('broken framing opens nothing and shows no stack: %s', async (_, bytes) => {
  const said = await raw(bytes);
  expect(said).not.toMatch(/HTTP\/1\.1 20\d/);
  expect(said).not.toMatch(/\bat .*:\d+:\d+|node_modules|\.ts:/);
  expect(await healthy()).toBe(200);
});

test('four hundred connections that say nothing, half a line, or half a body keep nobody out', async () => {
  const { hostname, port } = new URL(scene.mesh.url);
  const starts = [
    '',
    'GET /healthz HT',
    'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ',
    'POST /hooks/rounds HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n{',
  ];
  const sockets: Socket[] = [];
  try {
    for (let i = 0; i < 400; i++) {
      const socket = connect(Number(port), hostname, () => socket.write(starts[i % starts.length]!));
      socket.on('error', () => {});
      sockets.push(socket);
    }
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await healthy()).toBe(200);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test('no log of the mesh holds a secret or a line that somebody else made up', async () => {
  const forged = '\n{"level":"error","event":"forged"}\n';
  const secrets = [...Object.values(scene.mesh.secrets), 'a-token-for-readers'];
  for (const token of secrets)
    await fetch(`${scene.mesh.url}/api/policies/${encodeURIComponent(forged)}`, {
      headers: { authorization: `Bearer ${token}`, 'user-agent': token, ...ALONE },
    });
  await scene.hook(JSON.stringify({ ...order, recipe: forged }));
  const logs = readdirSync(scene.stateDir).filter((name) => name.endsWith('.log'));
  expect(logs).toContain('mesh.log');
  for (const name of logs) {
    const text = readFileSync(join(scene.stateDir, name), 'utf8');
    for (const secret of secrets) expect(text.includes(secret)).toBe(false);
    expect(text).not.toMatch(/^\{"level":"error","event":"forged"\}$/m);
  }
});
