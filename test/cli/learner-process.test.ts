/** The learner of a mesh that is still starting: it loads meanwhile, and ends where the mesh never comes. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { superviseLearner } from '../../cli/learner/learner-process.ts';
import type { Mesh } from '../../local/mesh/start.ts';

const state = mkdtempSync(join(tmpdir(), 'rollmesh-learner-'));
afterEach(() => rmSync(state, { recursive: true, force: true }));

test('a learner is told of the mesh once that is up, and asks it for work', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.end(JSON.stringify({ success: true, errors: [], messages: [], result: { messages: [] } }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let up = (_: Mesh) => {};
  const starting = new Promise<Mesh>((resolve) => {
    up = resolve;
  });
  const learner = superviseLearner(starting, state, ['--eval-every=0', '--device=cpu', '--threads=1']);
  try {
    await vi.waitFor(() => expect(existsSync(learner.log)).toBe(true), { timeout: 60_000 });
    expect(asked).toEqual([]);
    // A token as a user may write one into .dev.vars.
    up({ url, pullUrl: url, secrets: { LEARNER_TOKEN: 'a "b" #c', MESH_KEY: 'k' } } as unknown as Mesh);
    const pull = (line: string) => line.includes('/messages/pull') && line.endsWith('Bearer a "b" #c');
    await vi.waitFor(() => expect(asked.some(pull)).toBe(true), { timeout: 60_000 });
    // What was pulled before it started is released first.
    expect(asked[0]).toContain('/messages/release');
    expect(readFileSync(learner.log, 'utf8')).toContain('learner.started');
  } finally {
    await learner.stop();
    server.close();
  }
});

test('where the mesh does not start the learner ends, and is not started again', async () => {
  const learner = superviseLearner(Promise.reject(new Error('no port')), state, []);
  await learner.stop();
  await expect(Promise.race([learner.givenUp, 'not given up'])).resolves.toBe('not given up');
});
