/** `rollmesh environment tasks` says that it waits while a server drips, and no longer than it waits. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { command } from '../../cli/environment/command.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a server that begins its answer and does not end it: told every 15 seconds whose tasks are waited for', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const asked = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const over = command()
      .exitOverride()
      .parseAsync(['tasks', url, '--out', '/nonexistent/tasks.jsonl'], { from: 'user' })
      .catch((error: { code: string }) => error.code);
    const [, response] = await asked;
    server.on('request', (_, later: ServerResponse) => later.writeHead(400).end('no'));
    response.write('["su');
    vi.advanceTimersByTime(14_999);
    expect(said).not.toHaveBeenCalled();
    vi.advanceTimersByTime(30_001);
    expect(said.mock.calls).toEqual(Array(3).fill([`  ! waiting for the tasks of ${url}`]));
    response.end('ms"]');
    expect(await over).toMatch(/^environment\./);
    vi.advanceTimersByTime(60_000);
    expect(said).toHaveBeenCalledTimes(3);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
