/** The commands that change a mesh elsewhere: through its gateway, with the learner's token from the environment. */
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayAddress } from '../../../cli/shared/mesh-access.ts';
import { NODE_FLAGS } from '../../../local/mesh/installation.ts';
import { readSecrets } from '../../../local/mesh/secrets.ts';
import { openScene, type Scene } from '../../mesh/scene.ts';

/** A process takes seconds to start where the machine is busy. */

let scene: Scene;
/** Keys of the version's objects. */
const stored = async (version: number) => {
  const bucket = await scene.mesh.mf.getR2Bucket('BUCKET', 'rollmesh-gateway');
  const { objects } = await bucket.list({ prefix: `policies/far/${version}/` });
  return objects.map(({ key }) => key.split('/').at(-1));
};

beforeAll(async () => {
  scene = await openScene();
  const files = await scene.gateway.getVersion({ name: 'arithmetic-base', version: 0 });
  for (let version = 0; version <= 4; version++) {
    const parent = version === 0 ? null : version - 1;
    await scene.gateway.putVersion(files, {
      policy: 'far',
      version,
      parent,
      groups: [],
      round: null,
      settings: {},
    });
  }
});
afterAll(() => scene.stop());

function policy(token: string | undefined, ...args: readonly string[]) {
  const { LEARNER_TOKEN: _, ...env } = process.env;
  const child = spawn(process.execPath, [...NODE_FLAGS, 'cli/rollmesh.ts', 'policy', ...args], {
    env: token === undefined ? env : { ...env, LEARNER_TOKEN: token },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  return new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve) =>
    child.once('close', (status) => resolve({ status, stdout, stderr })),
  );
}

test('rollback and prune with the token of the mesh; nothing without it', async () => {
  const { url } = scene.mesh;
  const token = readSecrets('.').LEARNER_TOKEN!;
  const [tokenless, wrong] = await Promise.all([
    policy(undefined, 'rollback', 'far', '3', '--url', url),
    policy('not-the-token-of-this-mesh', 'prune', 'far', '--keep', '1', '--url', url),
  ]);
  expect(tokenless.stderr).toContain('LEARNER_TOKEN is not set');
  expect(wrong.stderr).toContain('learner’s token');
  expect([tokenless.status, wrong.status]).toEqual([1, 1]);
  expect((await scene.gateway.getPolicy('far'))?.current).toBe(4);

  const back = await policy(token, 'rollback', 'far', '3', '--url', `${url}/`, '--reason', 'worse', '--json');
  expect(JSON.parse(back.stdout)).toEqual({ policy: 'far', current: 3, withdrawn: [4] });
  const { versions } = await scene.gateway.getVersions('far');
  expect(versions.find(({ version }) => version === 4)?.withdrawn).toBe('Rolled back to version 3: worse');

  // Kept: 0, the current 3, its parent 2, and 4, which was withdrawn a moment ago. 1 goes.
  const rule = ['prune', 'far', '--keep', '2', '--url', url];
  const asked = await policy(token, ...rule, '--dry-run');
  expect(asked.stdout).toMatch(/far: 1 version would go, .* \(1\)\n$/);
  expect(await stored(1)).toContain('model.safetensors');
  const done = await policy(token, ...rule);
  expect(done.stdout).toContain('keep far@4: withdrawn less than 7 days ago');
  expect(await stored(1)).toEqual(['manifest.json']);
  for (const version of [0, 2, 3, 4]) expect(await stored(version)).toContain('model.safetensors');
  expect(
    (await scene.gateway.getVersions('far')).versions.find(({ version }) => version === 1),
  ).toMatchObject({
    bytes: 0,
    prunedAt: expect.any(Number),
  });

  const gone = await policy(token, 'rollback', 'far', '1', '--url', url);
  expect(gone).toMatchObject({ status: 1, stderr: expect.stringContaining('neither withdrawn nor pruned') });
});

test('a token is not sent in the clear to another machine', () => {
  expect(gatewayAddress('https://mesh.example.org/')).toBe('https://mesh.example.org');
  expect(gatewayAddress('http://127.0.0.1:8787')).toBe('http://127.0.0.1:8787');
  for (const text of ['http://mesh.example.org', 'mesh.example.org', 'ftp://localhost', ''])
    expect(() => gatewayAddress(text)).toThrow('address of a mesh');
});

test('a checkpoint is imported into a mesh elsewhere', async () => {
  const { url } = scene.mesh;
  const done = await policy(
    readSecrets('.').LEARNER_TOKEN,
    ...['import', 'models/arithmetic-base', '--name', 'brought', '--url', url, '--json'],
  );
  expect(done.stderr).toBe('');
  expect(JSON.parse(done.stdout)).toMatchObject({ policy: 'brought', version: 0, tokenizer: true });
  expect((await scene.gateway.getPolicy('brought'))?.current).toBe(0);
});
