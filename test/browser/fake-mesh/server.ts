/**
 * A gateway's reading API from memory, and the page's files under the real content security policy. For the page's
 * tests only: its figures are drawn, not learned, and its texts are as hostile as a model could write them.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { pixmap } from '../../../core/images/image.ts';
import { imagesNamed, imageText } from '../../../core/images/patches.ts';
import { answer } from './answers.ts';
import { HOSTILE } from './drawn.ts';
import { PICTURE } from './groups.ts';
import { frozen, Run, trained } from './run.ts';

/** A server-sent event: something has changed. */
const CHANGE = 'event: change\ndata: \n\n';
const PAGE = new URL('../../../web/dashboard/', import.meta.url).pathname;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

export interface FakeMesh {
  readonly url: string;
  /** Requests so far, by path without its query. */
  readonly requests: Map<string, number>;
  /** Plays the open round to its end and opens the next. */
  advance(): void;
  /** Answers every question of the API with this status until told otherwise; null = as usual. */
  failWith(status: number | null): void;
  close(): Promise<void>;
}

/** The token of whoever runs the mesh. */
export const OPERATOR_TOKEN = 'a-token-of-the-operator';

export interface FakeSettings {
  /** Rounds that have ended; the next one is open until the target is reached. */
  readonly done?: number;
  readonly target?: number;
  /** Reading needs this token. */
  readonly token?: string;
  /** No run at all. */
  readonly empty?: boolean;
}

export async function startFakeMesh(settings: FakeSettings = {}): Promise<FakeMesh> {
  const { done = 40, target = 40, token, empty = false } = settings;
  const run = new Run(trained, done, target, 0.72);
  const runs = empty ? [] : [run, new Run(frozen, 40, 40, 0.36)];
  const requests = new Map<string, number>();
  let failing: number | null = null;
  const streams = new Set<ServerResponse>();
  const tell = () => {
    for (const stream of streams) stream.write(CHANGE);
  };
  /** Labels or deletes a run, for whoever has the token. */
  async function changeRun(request: IncomingMessage, id: string): Promise<object> {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.headers.authorization !== `Bearer ${OPERATOR_TOKEN}`) throw 'This needs the learner’s token.';
    const at = runs.findIndex((candidate) => candidate.id === id);
    if (request.method === 'DELETE') {
      runs.splice(at, 1);
      return { run: id, objects: 3, left: false };
    }
    runs[at]!.label = JSON.parse(body);
    return runs[at]!.view();
  }
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    requests.set(url.pathname, (requests.get(url.pathname) ?? 0) + 1);
    response.setHeader('content-security-policy', POLICY);
    const send = (status: number, type: string, body: string | Uint8Array) => {
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    };
    if (
      url.pathname === '/api/events' &&
      failing === null &&
      (token === undefined || request.headers.authorization)
    ) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': \n\n');
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    const labelled = /^\/api\/runs\/(\w+)(\/label)?$/.exec(url.pathname);
    if (labelled && (request.method === 'PUT' || request.method === 'DELETE')) {
      changeRun(request, labelled[1]!).then(
        (answer) => send(200, 'application/json', JSON.stringify(answer)),
        (message) => send(401, 'application/json', JSON.stringify({ error: { code: 'x', message } })),
      );
      return;
    }
    const named = imagesNamed(imageText(PICTURE))[0]!.image;
    if (url.pathname === `/api/images/${named}`) {
      send(200, 'image/x-portable-pixmap', pixmap(PICTURE));
      return;
    }
    if (url.pathname.startsWith('/api/')) {
      const denied = token !== undefined && request.headers.authorization !== `Bearer ${token}`;
      const refused = failing ?? (denied ? 401 : null);
      const found = refused === null ? answer(runs, url) : null;
      const status = refused ?? (found ? 200 : 404);
      const error = { error: { code: 'x', message: `Refused: ${HOSTILE}`, expected: null, next: null } };
      send(status, 'application/json', JSON.stringify(found ?? error));
      return;
    }
    const file = normalize(join(PAGE, url.pathname === '/' ? 'index.html' : url.pathname));
    readFile(file.startsWith(PAGE) ? file : join(PAGE, 'none')).then(
      (body) => send(200, TYPES[extname(file)] ?? 'application/octet-stream', body),
      () => send(404, 'text/plain', 'not found'),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    advance: () => {
      run.done++;
      tell();
    },
    failWith: (status) => {
      failing = status;
      tell();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
