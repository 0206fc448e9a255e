/**
 * The image of a node without a container runtime: what the Dockerfile copies is laid into an empty folder, what it installs is linked there
 * (`.ci/run` runs `npm ci`), and its entry point is started by the line that the image would start it by, as a user without rights.
 */
import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeNodeKeys } from '../../core/audit/work-seal.ts';

const steps = readFileSync('Dockerfile', 'utf8')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'))
  .map((line) => line.split(/ (.*)/s) as [string, string]);
const of = (instruction: string): string[] =>
  steps.flatMap(([name, rest]) => (name === instruction ? [rest] : []));

/** Anybody's number but root's: what `USER node` is in the image. */
const USER = 1000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollmesh-image-'));
  chmodSync(folder, 0o755);
  const ignored = new Set(readFileSync('.dockerignore', 'utf8').split('\n').filter(Boolean));
  // The working tree's folders of installed packages and of state are among those that are ignored.
  cpSync('.', folder, {
    recursive: true,
    filter: (source) => !ignored.has(relative('.', resolve(source)).split('/')[0]!),
  });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the steps are those that this test takes', () => {
  expect(steps.map(([name]) => name)).toEqual(['FROM', 'WORKDIR', 'COPY', 'RUN', 'USER', 'ENTRYPOINT']);
  expect(of('COPY')).toEqual(['. .']);
  expect(of('RUN')).toEqual(['npm ci --no-audit --no-fund']);
  expect(of('USER')).toEqual(['node']);
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
  const [, least] = />=(\d+)/.exec(engines.node)!;
  const [, image] = /^node:(\d+)-slim$/.exec(of('FROM')[0]!)!;
  expect(Number(image)).toBeGreaterThanOrEqual(Number(least));
  // Secrets of whoever builds the image stay out of it.
  expect(existsSync(join(folder, '.dev.vars'))).toBe(false);
  expect(existsSync(join(folder, '.git'))).toBe(false);
});

test('the entry point asks the mesh for work with the token of its environment', async () => {
  const [program, ...args] = JSON.parse(of('ENTRYPOINT')[0]!) as [string, ...string[]];
  expect(program).toBe('node');
  let heard: (asked: string) => void;
  const asked = new Promise<string>((resolve) => {
    heard = resolve;
  });
  const gateway = createServer(({ url, headers }) => heard(`${url} ${headers.authorization}`));
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const { token } = await makeNodeKeys('0'.repeat(32));
  const mesh = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const child = spawn(process.execPath, [...args, '--mesh', mesh, '--threads', '1'], {
    cwd: folder,
    env: { PATH: dirname(process.execPath), HOME: folder, ROLLMESH_NODE_TOKEN: token },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(process.getuid?.() === 0 ? { uid: USER, gid: USER } : {}),
  });
  let said = '';
  child.stderr.on('data', (chunk: Uint8Array) => {
    said += new TextDecoder().decode(chunk);
  });
  const ended = new Promise<string>((resolve) => child.once('exit', () => resolve(`it ended: ${said}`)));
  try {
    expect(await Promise.race([asked, ended])).toBe(`/api/work/lease Bearer ${token}`);
  } finally {
    child.kill('SIGKILL');
    gateway.closeAllConnections();
    gateway.close();
  }
}, 60_000);
