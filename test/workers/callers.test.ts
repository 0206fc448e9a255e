/** Who may cause work at the model endpoints where no reading token is set: on a deployed mesh the learner, on a local one every program. */
import { expect, test } from 'vitest';

const LEARNER = 'the-learners-token'.padEnd(64, '0');

async function statusAt(local: boolean, token?: string): Promise<number> {
  // Not by its literal name, since the Workers are compiled against other types than the tests.
  const app: string = '../../workers/gateway/app.ts';
  const { gatewayApp } = (await import(app)) as {
    gatewayApp: (services: object) => { request: (path: string, init: object) => Promise<Response> };
  };
  const free = { limit: async () => ({ success: true }) };
  const services = {
    settings: { local },
    secrets: { read: [undefined, undefined], learner: [LEARNER, undefined] },
    limits: { reads: free, hooks: free },
  };
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  // It is let in where it is told that no Worker samples.
  return (await gatewayApp(services).request('/v1/chat/completions', { method: 'POST', headers, body: '{}' }))
    .status;
}

test('a deployed mesh without a reading token answers the learner alone', async () => {
  expect(await statusAt(false)).toBe(401);
  expect(await statusAt(false, 'a-token-of-somebody'.padEnd(64, '0'))).toBe(401);
  expect(await statusAt(false, LEARNER)).toBe(501);
});

test('a local mesh answers every program of the machine', async () => {
  expect(await statusAt(true)).toBe(501);
});
