/**
 * What the local mesh opens, attacked as another account of the machine and as a web page would: every port that its
 * processes listen on, found by asking the kernel, gets the requests that once wrote files and ended the mesh.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asNobody, canBeNobody } from './nobody.ts';
import { openScene, type Scene } from './scene.ts';

/** An object that is stored beside the records, and what stands in it. */
const KEY = 'private/canary.txt';
const CANARY = 'the canary in the bucket';
/** Where Miniflare answers with the objects of the bucket `rollmesh`. */
const BUCKET_PATHS = [`/cdn-cgi/local/r2/public/rollmesh/${KEY}`, `/cdn-cgi/local/r2/s3/rollmesh/${KEY}`];

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
  await (await scene.mesh.mf.getR2Bucket('BUCKET', 'rollmesh-gateway')).put(KEY, CANARY);
});
afterAll(() => scene.stop());

const onLinux = process.platform === 'linux';

/** This process and its workerd. */
function meshProcesses(): number[] {
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  return [process.pid, ...children.trim().split(/\s+/).map(Number)];
}

/** Sockets of a process, by their inode. */
function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.slice(1) ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** TCP ports on which the mesh's processes listen: state 0A of /proc/net/tcp. */
function listeningPorts(): number[] {
  const ours = new Set(meshProcesses().flatMap(socketsOf));
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    readFileSync(file, 'utf8').trim().split('\n').slice(1),
  );
  const ports = rows.flatMap((row) => {
    const columns = row.trim().split(/\s+/);
    const listens = columns[3] === '0A' && ours.has(columns[9]!);
    return listens ? [Number.parseInt(columns[1]!.split(':')[1]!, 16)] : [];
  });
  return [...new Set(ports)];
}

/** Status of one request; 0 where the connection was cut. */
function ask(
  port: number,
  path: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const request = http.request(
      { host: '127.0.0.1', port, path, method, headers, agent: false, timeout: 5000 },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve({ status: 0, text: '' }));
    request.end(body);
  });
}

const portOf = (url: string) => Number(new URL(url).port);
const isUp = async () => (await fetch(`${scene.mesh.url}/healthz`)).status === 200;

test.runIf(onLinux)('every port of the mesh is among those that are attacked here', () => {
  const ports = listeningPorts();
  expect(ports).toContain(portOf(scene.mesh.url));
  expect(ports).toContain(portOf(scene.mesh.pullUrl));
  // The others are Miniflare's own way to workerd and that of the process which started it, each closed without its secret.
  expect(ports).toHaveLength(4);
});

test.runIf(onLinux)(
  'no port runs a statement or ticks the clock for whoever has not the secret',
  async () => {
    const sql = 'CREATE TABLE planted (id INTEGER)';
    for (const port of listeningPorts())
      for (const headers of [{}, { authorization: 'Bearer ' }, { authorization: `Bearer ${'0'.repeat(64)}` }])
        for (const path of ['/exec', '/all', '/tick']) {
          const { status } = await ask(port, path, { method: 'POST', body: sql, headers });
          expect.soft([port, path, status]).toSatisfy(([, , s]) => [403, 404, 405].includes(s));
        }
    const db = await scene.mesh.mf.getD1Database('DB', 'rollmesh-gateway');
    const { results } = await db.prepare("SELECT name FROM sqlite_master WHERE name = 'planted'").all();
    expect(results).toEqual([]);
  },
);

test.runIf(onLinux)(
  'no port writes a file, logs, reads a bucket or opens a browser for whoever asks',
  async () => {
    const canary = join(tmpdir(), `rollmesh-canary-${process.pid}`);
    const climb = encodeURIComponent(`x/../../../../../../../../..${canary}`);
    for (const port of listeningPorts()) {
      const requests = [
        ask(port, `/core/store-temp-file?extension=${climb}`, { method: 'POST', body: 'written' }),
        ask(port, '/core/store-temp-file', { method: 'POST', body: 'written' }),
        ask(port, '/core/log', { method: 'POST', body: 'x', headers: { 'mf-log-level': '1' } }),
        ask(port, '/core/dev-registry'),
        ask(port, '/browser/launch'),
        ...BUCKET_PATHS.map((path) => ask(port, path)),
        ask(port, '/cdn-cgi/platform-proxy', {
          headers: { 'mf-op': 'GET', 'mf-op-secret': '00'.repeat(16) },
        }),
        ask(port, '/no-such-page', { headers: { 'mf-custom-node-service': 'x' } }),
      ];
      for (const [i, { status, text }] of (await Promise.all(requests)).entries()) {
        expect.soft([port, i, status], text).toSatisfy(([, , s]) => [0, 400, 401, 403, 404].includes(s));
        expect.soft(text, `${port} ${i}`).not.toContain(tmpdir());
        expect.soft(text, `${port} ${i}`).not.toContain(CANARY);
      }
    }
    expect(existsSync(canary)).toBe(false);
    expect(await isUp()).toBe(true);
  },
);

test.runIf(onLinux)('a broken MF-CF-Blob header ends nothing, at no port', async () => {
  // A server that fails at the header leaves its caller without an answer, and outside of vitest ends with its process.
  for (const port of listeningPorts())
    expect(await ask(port, '/healthz', { headers: { 'MF-CF-Blob': '{' } })).not.toMatchObject({ status: 0 });
  expect(await isUp()).toBe(true);
});

test('a foreign Host and a foreign Origin are refused at both ports', async () => {
  for (const [url, path] of [
    [scene.mesh.url, '/healthz'],
    [scene.mesh.pullUrl, '/client/v4/accounts/local/queues/rollmesh-scored/messages/pull'],
  ] as const) {
    const port = portOf(url);
    const foreign = [{ host: 'rebind.evil.example' }, { host: `rebind.evil.example:${port}` }];
    for (const headers of foreign) expect(await ask(port, path, { headers })).toMatchObject({ status: 403 });
    for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1:1'])
      expect(await ask(port, path, { headers: { origin } })).toMatchObject({ status: 403 });
  }
  const { status, text } = await ask(portOf(scene.mesh.url), '/api/rounds', {
    headers: { host: 'evil.example' },
  });
  expect(status).toBe(403);
  expect(JSON.parse(text)).toMatchObject({ code: 'host.foreign' });
  const own = { origin: scene.mesh.url, host: new URL(scene.mesh.url).host };
  expect(await ask(portOf(scene.mesh.url), '/api/rounds', { headers: own })).toMatchObject({ status: 200 });
});

test('headers of Miniflare choose no other Worker and show no stack', async () => {
  const headers = {
    'MF-Route-Override': 'rollmesh-judge',
    'MF-Original-URL': 'http://x/cdn-cgi/platform-proxy',
    'MF-Disable-Pretty-Error': '1',
  };
  expect(await ask(portOf(scene.mesh.url), '/healthz', { headers })).toMatchObject({ status: 200 });
});

test.runIf(canBeNobody)('another account cannot enter the folder with the sockets of workerd', async () => {
  const ours = new Set(meshProcesses().flatMap(socketsOf));
  const folders = readFileSync('/proc/net/unix', 'utf8')
    .trim()
    .split('\n')
    .flatMap((row) => {
      const [inode, path = ''] = row.split(/\s+/).slice(6);
      return ours.has(inode!) ? (/^(.+)\/(?:entry|loopback)$/.exec(path)?.slice(1) ?? []) : [];
    });
  expect(folders.length).toBeGreaterThan(0);
  for (const folder of new Set(folders)) {
    expect((await asNobody('ls "$1"', folder)).status).not.toBe(0);
    expect((await asNobody('cat "$1/entry"', folder)).stderr).toContain('denied');
  }
});

/** `nobody` sends one request to each port by the TCP of bash, for it may not read our programs; what is answered. */
async function sendAsNobody(first: string, headers: string): Promise<string> {
  const script = `for port in $1; do
    bash -c 'exec 3<>/dev/tcp/127.0.0.1/$1 && printf "%s HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n%bContent-Length: 7\\r\\nConnection: close\\r\\n\\r\\nwritten" "$2" "$3" >&3 && timeout 5 cat <&3' bash "$port" "$2" "$3"
  done`;
  return (await asNobody(script, listeningPorts().join(' '), first, headers)).stdout;
}

test.runIf(canBeNobody)('as nobody: no file is written by the mesh’s user', async () => {
  const canary = join(scene.stateDir, 'from-nobody');
  const climb = encodeURIComponent(`x/../../../../../../../../..${canary}`);
  const answers = await sendAsNobody(`POST /core/store-temp-file?extension=${climb}`, '');
  expect(answers).toContain('HTTP/1.1');
  expect(existsSync(canary)).toBe(false);
  expect(answers).not.toMatch(/HTTP\/1\.1 200/);
});

test.runIf(canBeNobody)('as nobody: no object of the bucket is read', async () => {
  for (const path of BUCKET_PATHS) {
    const answers = await sendAsNobody(`GET ${path}`, '');
    expect(answers).toContain('HTTP/1.1');
    expect(answers).not.toContain(CANARY);
    expect(answers).not.toMatch(/HTTP\/1\.1 200/);
  }
});

test.runIf(canBeNobody)('as nobody: the mesh is not ended', async () => {
  const answers = await sendAsNobody('GET /healthz', 'MF-CF-Blob: {\\r\\n');
  expect(answers.match(/HTTP\/1\.1 \d/g)).toHaveLength(listeningPorts().length);
  expect(await isUp()).toBe(true);
});

test.runIf(onLinux)('where workerd has ended and was started again, the clock ticks', async () => {
  const children = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(process.pid)], {
    encoding: 'utf8',
  });
  const [, pid] = /^ *(\d+) workerd$/m.exec(children)!;
  process.kill(Number(pid), 'SIGKILL');
  await scene.mesh.crashed;
  await scene.mesh.cron();
  expect(await isUp()).toBe(true);
});
