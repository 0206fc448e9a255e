/** What a reward service may do wrong, each of it by a real server: every fault is a kind of missing data, within bounded time and size. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseAnswer, type ServiceQuestion } from '../../../core/net/reward-service.ts';
import { httpService } from '../../../infer/remote/reward-service.ts';
import { verifySignature } from '../../../workers/gateway/signature.ts';

const SECRET = 'a-secret-for-rewards';

const signatureOf = (headers: IncomingMessage['headers']) => ({
  standard: {
    id: String(headers['webhook-id']),
    timestamp: String(headers['webhook-timestamp']),
    signature: String(headers['webhook-signature']),
  },
  own: undefined,
  github: undefined,
  githubDelivery: undefined,
});
let requests: { headers: IncomingMessage['headers']; body: string }[] = [];
let answer: (response: ServerResponse, nth: number) => void;
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    requests.push({ headers: request.headers, body });
    answer(response, requests.length);
  });
});

let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rate`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
});

const question = (): ServiceQuestion => ({
  url,
  reward: 'rate',
  round: 'r',
  group: 'g',
  task: { messages: [{ role: 'user', content: '1+1' }], answer: '2', metadata: {}, difficulty: null },
  rollouts: [
    { id: 'a', text: '2', answer: '2', ended: true, tokens: 2 },
    { id: 'b', text: '3', answer: '3', ended: true, tokens: 2 },
  ],
});
const ask = (change: Partial<Parameters<typeof httpService>[0]> = {}) =>
  httpService({ secret: SECRET, now: Date.now, timeoutMs: 20_000, waitsMs: [1, 1], ...change })(question());

test('one signed request has the task and all rollouts of a group', async () => {
  answer = (response) => response.end('{"rewards": [1, null]}');
  expect(await ask()).toEqual([1, 'not-rated']);
  const [{ headers, body }] = requests as [(typeof requests)[number]];
  const signed = signatureOf(headers);
  const bytes = new TextEncoder().encode(body);
  expect(() => verifySignature(signed, bytes, [SECRET], Date.now() / 1000)).not.toThrow();
  expect(() => verifySignature(signed, bytes, ['another'], Date.now() / 1000)).toThrow(/not of this message/);
  const { url: _, ...asked } = question();
  expect(JSON.parse(body)).toEqual({ v: 1, ...asked });
});

test('an error that may pass is tried again, another one is not', async () => {
  answer = (response, nth) => (nth < 3 ? response.writeHead(503).end() : response.end('{"rewards": [0, 1]}'));
  expect(await ask()).toEqual([0, 1]);
  expect(requests).toHaveLength(3);
  requests = [];
  answer = (response) => response.writeHead(403).end();
  expect(await ask()).toEqual(['refused', 'refused']);
  expect(requests).toHaveLength(1);
  requests = [];
  answer = (response) => response.writeHead(500).end();
  expect(await ask()).toEqual(['refused', 'refused']);
  expect(requests).toHaveLength(3);
});

test('a redirect is not followed', async () => {
  answer = (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
  expect(await ask()).toEqual(['refused', 'refused']);
  expect(requests).toHaveLength(1);
});

test('an answer that is late, too long or nonsense is missing data of its kind', async () => {
  answer = () => {};
  expect(await ask({ timeoutMs: 50 })).toEqual(['timed-out', 'timed-out']);
  // A letter now and then keeps the connection alive, and not the request.
  const dripping = new Set<NodeJS.Timeout>();
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    dripping.add(setInterval(() => response.write(' '), 10));
  };
  expect(await ask({ timeoutMs: 100 })).toEqual(['timed-out', 'timed-out']);
  for (const timer of dripping) clearInterval(timer);
  // Three attempts, none of which outlived its time.
  expect(requests).toHaveLength(6);
  answer = (response) => response.end(`{"rewards": [1, 1], "more": "${'x'.repeat(1_100_000)}"}`);
  expect(await ask()).toEqual(['too-large', 'too-large']);
  const dead = httpService({ secret: SECRET, now: Date.now, waitsMs: [] });
  expect(await dead({ ...question(), url: 'http://127.0.0.1:1/' })).toEqual(['unreachable', 'unreachable']);
  for (const body of ['', 'no', '[1, 1]', '{"rewards": [1]}', '{"rewards": {"a": 1}}'])
    expect(parseAnswer(body, 2)).toEqual(['unreadable', 'unreadable']);
  expect(parseAnswer('{"rewards": ["1", 1e999, 0.5]}', 3)).toEqual(['not-a-number', 'not-a-number', 0.5]);
});
