/** The limits of wrangler.toml hold locally as deployed: what has no right signature is counted apart from what has. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALONE, openScene, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ rateLimit: 5, vars: { READ_TOKEN: 'a-token-for-readers' } });
});
afterAll(() => scene.stop());

const statuses = async (count: number, path: string, init: RequestInit) => {
  const seen = [];
  for (let i = 0; i < count; i++) seen.push((await fetch(scene.mesh.url + path, { ...init })).status);
  return seen;
};

test('the sixth hook of a minute without a right signature is refused, and five with one come through', async () => {
  const init = { method: 'POST', body: '{}', headers: ALONE };
  expect(await statuses(7, '/hooks/rounds', init)).toEqual([401, 401, 401, 401, 401, 429, 429]);
  const signature = {
    'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
    'x-github-delivery': '0'.repeat(32),
  };
  const forged = { ...init, headers: { ...ALONE, ...signature } };
  expect(await statuses(1, '/hooks/rounds', forged)).toEqual([429]);
  // Nor do searches for samples, leases of strangers or their episodes count with hooks.
  const none = '0'.repeat(32);
  const guess = { headers: { authorization: `Bearer ${none}.${'0'.repeat(64)}`, ...ALONE } };
  const learner = { headers: { authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}`, ...ALONE } };
  expect((await statuses(6, `/api/samples/${none}`, learner)).at(-1)).toBe(429);
  expect(await statuses(6, '/api/work/lease', { ...guess, method: 'POST' })).toEqual([
    401, 401, 401, 401, 401, 429,
  ]);
  const signed = [];
  for (let i = 0; i < 6; i++) signed.push((await scene.hook(`{"unknown": ${i}}`)).status);
  expect(signed).toEqual([422, 422, 422, 422, 422, 429]);
});

test('readers are limited and need their token where one is set; the learner is not', async () => {
  const reader = { headers: { authorization: 'Bearer a-token-for-readers', ...ALONE } };
  expect(await statuses(1, '/api/rounds', { headers: ALONE })).toEqual([401]);
  expect(await statuses(1, '/metrics', { headers: ALONE })).toEqual([401]);
  expect(await statuses(4, '/api/rounds', reader)).toEqual([200, 200, 200, 429]);
  const learner = { headers: { authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}`, ...ALONE } };
  expect(await statuses(12, '/api/rounds', learner)).toEqual(Array(12).fill(200));
  expect(await statuses(1, '/healthz', { headers: ALONE })).toEqual([200]);
});

test('an address that the client made up is no caller of its own', async () => {
  const fresh = await openScene({ rateLimit: 3 });
  const seen: number[] = [];
  for (let i = 1; i <= 6; i++) {
    const headers = { 'cf-connecting-ip': `10.0.0.${i}`, ...ALONE };
    seen.push(
      (await fetch(`${fresh.mesh.url}/hooks/rounds`, { method: 'POST', body: '{}', headers })).status,
    );
  }
  await fresh.stop();
  expect(seen).toEqual([401, 401, 401, 429, 429, 429]);
});
