/** The thread between Miniflare and workerd, in front of a server that ends its connections as workerd does. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const PATH = '/cdn-cgi/platform-proxy';

test('a request is never sent on a connection that workerd may be about to close', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-entry-'));
  const socket = join(folder, 'entry');
  let connections = 0;
  // It closes a connection on which a second request comes, without an answer: what a client sees that meets the end of an idle one.
  const workerd = http.createServer((request, response) => {
    if ((request.socket as { used?: boolean }).used) return void request.socket.destroy();
    Object.assign(request.socket, { used: true });
    const answer = `${request.method} ${request.headers['mf-op-secret']}`;
    request.resume().on('end', () => response.end(answer));
  });
  workerd.keepAliveTimeout = 0;
  workerd.on('connection', () => connections++);
  workerd.listen(socket);
  const proxy = new Worker(new URL('../../local/mesh/entry-proxy.mjs', import.meta.url), {
    workerData: socket,
  });
  try {
    const [{ port }] = (await once(proxy, 'message')) as [{ port: number }];
    for (let i = 0; i < 3; i++) {
      const options = { method: 'PUT', headers: { 'mf-op-secret': `s${i}` }, body: 'SELECT 1' };
      const answer = await fetch(`http://127.0.0.1:${port}${PATH}`, options);
      expect(await answer.text()).toBe(`PUT s${i}`);
    }
    expect(connections).toBe(3);
    expect((await fetch(`http://127.0.0.1:${port}${PATH}`)).status).toBe(403);
  } finally {
    await proxy.terminate();
    workerd.closeAllConnections();
    workerd.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
