/** The end of a round is told to the operator's address, signed, until it has answered, and then no more. */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openScene, type Scene } from './scene.ts';

const SECRET = 'a-secret-for-callbacks';
const heard: { body: string; id: string; time: string; signature: string }[] = [];
let answer = 500;
const listener = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const of = (name: string) => String(request.headers[name]);
    heard.push({
      body,
      id: of('webhook-id'),
      time: of('webhook-timestamp'),
      signature: of('webhook-signature'),
    });
    response.writeHead(answer).end();
  });
});

let scene: Scene;
beforeAll(async () => {
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const vars = { CALLBACK_URL: `http://127.0.0.1:${port}/ended`, CALLBACK_SECRET: SECRET };
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
  const { round, run } = await scene.order({ recipe: 'trio', policy: 'mute', tasks: 1, groupSize: 2 });
  await scene.reach(round, ['failed']);
  await scene.mesh.cron();
  await scene.mesh.cron();
  expect(heard).toHaveLength(2);
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
});
