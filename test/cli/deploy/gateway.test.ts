/** Whether a deployed gateway has the start policy, asked of a server that answers as the gateway does. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { hasStartPolicy, uploadStartPolicy, uploadTasks } from '../../../cli/deploy/gateway.ts';
import type { Recipe } from '../../../core/recipe/recipe.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Serves the given answers by path; notes what was asked. */
async function serve(answers: Readonly<Record<string, readonly [number, unknown]>>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(`${request.method} ${path} ${request.headers.authorization ?? '-'}`);
    const [status, body] = answers[path] ?? [500, {}];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const UP = [200, { ok: true }] as const;
const SEED = { name: 'arithmetic-base', current: 0, next: 1, versions: [] };
const refusal = (code: string) => ({ error: { code, message: 'No.', expected: null, next: null } });

test('the seed is there, is not there, or cannot be seen', async () => {
  const path = '/api/policies/arithmetic-base';
  const there = await serve({ '/healthz': UP, [path]: [200, SEED] });
  expect(await hasStartPolicy(there.url, 'a-token')).toBe(true);
  expect(there.asked).toEqual(['GET /healthz -', `GET ${path} Bearer a-token`]);
  const missing = await serve({ '/healthz': UP, [path]: [404, refusal('policy.unknown')] });
  expect(await hasStartPolicy(missing.url, 'a-token')).toBe(false);
  const closed = await serve({ '/healthz': UP, [path]: [401, refusal('token.wrong')] });
  expect(await hasStartPolicy(closed.url, undefined)).toBe(null);
  const down = await serve({ '/healthz': [503, {}] });
  expect(await hasStartPolicy(down.url, 'a-token')).toBe(null);
});

test('a seed that is there is not uploaded again', async () => {
  const { url, asked } = await serve({ '/healthz': UP, '/api/policies/arithmetic-base': [200, SEED] });
  await uploadStartPolicy(url, 'a-token');
  expect(asked.filter((line) => !line.startsWith('GET'))).toEqual([]);
});

test('of the tasks of a large file a deployed mesh is sent what it lacks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-deploy-tasks-'));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'tasks'));
  const [there, lacking] = ['some tasks', 'other tasks'].map((content) => {
    const sha256 = createHash('sha256').update(content).digest('hex');
    writeFileSync(join(folder, 'tasks', sha256), content);
    return sha256;
  });
  const { url, asked } = await serve({
    '/healthz': UP,
    '/api/tasks/missing': [200, { missing: [lacking] }],
    [`/api/tasks/${lacking}`]: [201, { result: 'stored' }],
  });
  const recipe = { name: 'grpo-1', stored: [there, lacking] } as unknown as Recipe;
  const said: string[] = [];
  const modules = [{ recipe, file: join(folder, 'grpo-1.mjs') }];
  await uploadTasks(modules, url, 'a-token', (line) => said.push(line));
  expect(asked.slice(1)).toEqual([
    'POST /api/tasks/missing Bearer a-token',
    `PUT /api/tasks/${lacking} Bearer a-token`,
  ]);
  expect(said).toEqual(['storing the tasks of grpo-1: 1 object']);
});
