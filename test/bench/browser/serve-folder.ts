/** Serves a folder's files on a free port of this machine, under /some/where/, as a static host would: no header but the type, unless some are given. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
};

/** `change`: what is sent in place of a file's bytes, by its path in the folder. */
export async function serveFolder(
  folder: string,
  headers: Readonly<Record<string, string>> = {},
  change: (path: string, body: Buffer) => Buffer | string = (_, body) => body,
): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer(({ url = '' }, answer) => {
    const path = url.replace(/^\/some\/where\//, '').replace(/^$/, 'index.html');
    try {
      const body = change(path, readFileSync(join(folder, path)));
      answer.writeHead(200, {
        'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
        ...headers,
      });
      answer.end(body);
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { server, url: `http://127.0.0.1:${(server.address() as { port: number }).port}/some/where/` };
}
