/** The commands of docs/webhooks.md as they stand there, against a mesh: signed by openssl and sent by curl. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureShipped } from '../../local/starts.ts';
import { shipped } from '../../recipes/index.ts';
import { openScene, type Scene } from './scene.ts';

const PAGE = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const run = promisify(execFile);

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
  await ensureShipped(scene.gateway, shipped.find('ttrl').startPolicy);
});
afterAll(() => scene.stop());

const sh = (script: string) =>
  run('bash', ['-c', script], {
    env: { ...process.env, ROLLMESH_URL: scene.mesh.url, WEBHOOK_SECRET: scene.mesh.secrets.WEBHOOK_SECRET },
  });

test('the order of the page begins a round, and the same order again is refused', async () => {
  const [, script] = /<!-- test: order -->\n```sh\n([\s\S]*?)```/.exec(PAGE)!;
  const { stdout } = await sh(script!);
  const answer = JSON.parse(stdout) as { run: string; round: string; rounds: number };
  expect(answer).toMatchObject({ rounds: 1 });
  const { spec } = await scene.reach(answer.round, ['training']);
  expect(spec.settings).toMatchObject({ recipe: 'ttrl', seed: 7, tasks: 2, groupSize: 2 });
  // another order of the same second has the same id
  const once = script!.replaceAll('$(date +%s)', String(Math.floor(Date.now() / 1000)));
  await sh(once.replace('order_', 'again_'));
  const refused = await sh(once.replace('order_', 'again_')).catch((error: { stdout: string }) => error);
  expect(JSON.parse(refused.stdout).error.code).toBe('delivery.replay');
});
