/**
 * An HTTP proxy between the learner and the mesh for injecting faults. It finds the kind of each request and lets a handler
 * delay, tear, refuse, repeat or cut it. With the handler `forwardAll` it changes nothing.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the learner does with a request. */
export type RequestKind = 'pull' | 'ack' | 'object' | 'file' | 'commit' | 'report' | 'failure' | 'read';

const KINDS: readonly (readonly [RequestKind, RegExp])[] = [
  ['pull', /^POST .*\/messages\/pull$/],
  ['ack', /^POST .*\/messages\/ack$/],
  ['object', /^GET \/api\/objects\//],
  ['file', /^PUT \/api\/policies\/[^/]+\/versions\/\d+\/files\//],
  ['commit', /^PUT \/api\/policies\/[^/]+\/versions\/\d+$/],
  ['report', /^POST \/api\/rounds\/[^/]+\/report$/],
  ['failure', /^POST \/api\/rounds\/.*\/failure$/],
];

export interface ProxyRequest {
  readonly kind: RequestKind;
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface ProxyResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Forwards a request; with `bytes`, only so many bytes of its body, and then it cuts the connection. Rejects if the mesh does not answer. */
export type Forward = (request: ProxyRequest, bytes?: number) => Promise<ProxyResponse>;

/** Decides what becomes of a request: it returns an answer, or null to cut the connection without one. */
export type Handler = (request: ProxyRequest, forward: Forward) => Promise<ProxyResponse | null>;

/** Forwards every request unchanged. */
export const forwardAll: Handler = (request, forward) => forward(request);

export interface ProxyTargets {
  /** The origins of the gateway (`gateway`) and of the pull API (`pull`). */
  readonly gateway: string;
  readonly pull: string;
}

export interface FaultProxy {
  readonly url: string;
  stop(): Promise<void>;
}

const kindOf = (line: string): RequestKind => KINDS.find(([, pattern]) => pattern.test(line))?.[0] ?? 'read';

const MESH_IS_DOWN: ProxyResponse = {
  status: 503,
  headers: { 'content-type': 'application/json', 'retry-after': '0.3' },
  body: Buffer.from('{}'),
};

/** `targets` is read at each request: a mesh that was started again listens elsewhere. */
export async function startProxy(targets: ProxyTargets, handler: () => Handler): Promise<FaultProxy> {
  const forward: Forward = (request, bytes) => {
    const pulls = request.path.startsWith('/client/v4/');
    return send(pulls ? targets.pull : targets.gateway, request, bytes);
  };
  const server = http.createServer((incoming, outgoing) => {
    void answer(incoming, outgoing, handler(), forward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
  handler: Handler,
  forward: Forward,
): Promise<void> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = 'GET', url: path = '/', headers } = incoming;
    const request = { kind: kindOf(`${method} ${path}`), method, path, headers, body: Buffer.concat(chunks) };
    const response = await handler(request, forward).catch(() => MESH_IS_DOWN);
    if (!response) {
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(response.status, response.headers);
    outgoing.end(response.body);
  } catch {
    // The learner was killed while it sent its request: there is nobody to answer.
    incoming.socket.destroy();
  }
}

function send(origin: string, request: ProxyRequest, bytes?: number): Promise<ProxyResponse> {
  return new Promise((resolve, reject) => {
    const { method, path, body } = request;
    const { host: _, connection: __, 'transfer-encoding': ___, ...headers } = request.headers;
    // Each request gets its own connection, since the mesh may have been killed since the last one.
    const outgoing = http.request(new URL(path, origin), {
      method,
      headers: { ...headers, ...(body.length ? { 'content-length': body.length } : {}) },
      agent: false,
    });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const { 'transfer-encoding': _, connection: __, ...kept } = response.headers;
        const whole = Buffer.concat(chunks);
        resolve({
          status: response.statusCode ?? 502,
          headers: { ...kept, 'content-length': String(whole.length) },
          body: whole,
        });
      });
    });
    if (bytes === undefined) outgoing.end(body);
    else
      outgoing.write(body.subarray(0, bytes), () => {
        setTimeout(() => outgoing.destroy(new Error('torn on purpose')), 20);
      });
  });
}
