/** Serves the Tinker API on a port of this machine, for programs of this machine alone. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Hono } from 'hono';
import { foreignCaller } from '../mesh/access-rules.ts';

const HOST = '127.0.0.1';
const HOSTS = [HOST, 'localhost', '[::1]'];

export interface Serving {
  readonly url: string;
  close(): Promise<void>;
}

function requestOf(incoming: IncomingMessage): Request {
  const { method = 'GET', headers, url = '/' } = incoming;
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.set(name, String(value));
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(new URL(url, `http://${headers.host ?? HOST}`), {
    method,
    headers: sent,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
  } as RequestInit);
}

/** `port` 0 = any that is free. */
export async function serveTinker(app: Hono, port: number): Promise<Serving> {
  const answer = async (incoming: IncomingMessage): Promise<Response> => {
    const request = requestOf(incoming);
    const refusal = foreignCaller(request, HOSTS);
    return refusal
      ? Response.json({ detail: refusal.message, code: refusal.code }, { status: 403 })
      : app.fetch(request);
  };
  const server = createServer(async (incoming, outgoing) => {
    const response = await answer(incoming).catch((error: unknown) =>
      Response.json({ detail: String(error) }, { status: 400 }),
    );
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body) await pipeline(Readable.fromWeb(response.body as never), outgoing).catch(() => {});
    else outgoing.end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
