/** The gateway's own routes over D1 and R2, served by Node: no Worker is started, and what is not read is not there. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type { Registry } from '../../../core/recipe/registry.ts';
import type { Stored } from './store.ts';

/** Its types are those of workerd, which those of Node do not fit; its code is plain HTTP. */
const GATEWAY = new URL('../../../workers/gateway/app.ts', import.meta.url).pathname;
const PAGE = new URL('../../../web/dashboard/', import.meta.url).pathname;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
};

async function asset(url: string): Promise<Response> {
  const { pathname } = new URL(url);
  const file = normalize(join(PAGE, pathname === '/' ? 'index.html' : pathname));
  const body = file.startsWith(PAGE) ? await readFile(file).catch(() => null) : null;
  if (!body) return new Response('not found', { status: 404 });
  return new Response(new Uint8Array(body), {
    headers: { 'content-type': TYPES[extname(file)] ?? 'text/plain' },
  });
}

export async function serve(
  { db, bucket }: Stored,
  recipes: Registry,
): Promise<{ url: string; close: () => Promise<void> }> {
  const free = { limit: async () => ({ success: true }) };
  const { gatewayApp } = await import(GATEWAY);
  const app = gatewayApp({
    recipes,
    db,
    bucket,
    assets: { fetch: (request: Request) => asset(request.url) },
    limits: { hooks: free, reads: free },
    secrets: { webhook: [], learner: [], read: [] },
    callback: undefined,
    settings: {
      stallMs: 1e9,
      episodeMs: 1e9,
      pages: [],
      queuesSince: 0,
      local: true,
      retention: null,
      defaultStartPolicy: 'arithmetic-base',
    },
    now: () => Date.now(),
  });
  const server = createServer(async (request, response) => {
    const answer = await app.fetch(
      new Request(new URL(request.url ?? '/', 'http://localhost'), {
        method: request.method ?? 'GET',
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
