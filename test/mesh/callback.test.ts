/** The end of a round is told to the operator's address, signed, and as a trace to an OpenTelemetry endpoint, until it is taken, and then no more. */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openScene, type Scene } from './scene.ts';

const SECRET = 'a-secret-for-callbacks';
const heard: { body: string; id: string; time: string; signature: string }[] = [];
const telemetry: { path: string; key: string; body: object }[] = [];
let answer = 500;
/** Where it is 307, both addresses send what is posted on to this one, which would take it. */
const ELSEWHERE = '/elsewhere';
let elsewhere = 0;
const listener = createServer((request, response) => {
  if (request.url === ELSEWHERE) {
    elsewhere++;
    response.writeHead(204).end();
    return;
  }
  const location = { location: ELSEWHERE };
  let body = '';
  request.setEncoding('utf8').on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const of = (name: string) => String(request.headers[name]);
    if (request.url?.startsWith('/otlp')) {
      telemetry.push({ path: request.url, key: of('x-key'), body: JSON.parse(body) });
      response.writeHead(answer, location).end();
      return;
    }
    heard.push({
      body,
      id: of('webhook-id'),
      time: of('webhook-timestamp'),
      signature: of('webhook-signature'),
    });
    response.writeHead(answer, location).end();
  });
});

let scene: Scene;
beforeAll(async () => {
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const vars = {
    CALLBACK_URL: `http://127.0.0.1:${port}/ended`,
    CALLBACK_SECRET: SECRET,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/otlp`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key',
  };
  scene = await openScene({ vars });
});
afterAll(async () => {
  await scene.stop();
  listener.close();
});

test('told until it is taken, then never again', async () => {
  const { 'tokenizer.json': _, ...mute } = await scene.gateway.getVersion({
    name: 'arithmetic-base',
    version: 0,
  });
  const about = { policy: 'mute', version: 0, parent: null, groups: [], round: null, settings: {} };
  await scene.gateway.putVersion(mute, about);
  const { round, run } = await scene.order({
    recipe: 'trio',
    policy: 'mute',
    tasks: 1,
    groupSize: 2,
    engine: 'kernels',
  });
  await scene.reach(round, ['failed']);
  await scene.mesh.cron();
  answer = 307;
  await scene.mesh.cron();
  expect(heard).toHaveLength(2);
  // A redirect is no success, and nothing is sent where it leads.
  expect(elsewhere).toBe(0);
  answer = 204;
  await scene.mesh.cron();
  await scene.mesh.cron();
  expect(heard).toHaveLength(3);
  // the same news has the same id each time
  expect(new Set(heard.map(({ id }) => id))).toEqual(new Set([`round_${round}`]));
  for (const { body, id, time, signature } of heard) {
    expect(JSON.parse(body)).toMatchObject({ round, run, index: 1, state: 'failed', version: null });
    const mac = createHmac('sha256', SECRET).update(`${id}.${time}.${body}`).digest('base64');
    expect(signature).toBe(`v1,${mac}`);
  }

  const sent = (what: string) => telemetry.filter(({ path }) => path === `/otlp/v1/${what}`);
  // Three times until it was taken, then no more; the metrics each minute.
  expect([sent('traces').length, sent('metrics').length]).toEqual([3, 4]);
  expect(new Set(telemetry.map(({ key }) => key))).toEqual(new Set(['a key']));
  const root = { traceId: round, name: 'round', status: { code: 2, message: expect.any(String) } };
  for (const { body } of sent('traces'))
    expect(body).toMatchObject({
      resourceSpans: [{ scopeSpans: [{ spans: [root, { name: 'proposing' }] }] }],
    });
  expect(JSON.stringify(sent('metrics').at(-1))).toContain('"name":"rollmesh_rounds"');
});
