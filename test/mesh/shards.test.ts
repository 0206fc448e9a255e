/** Files in shards in a real mesh: stored and read whole, sampled from by Workers and nodes, and refused by name where one is not right. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Manifest, VersionFiles } from '../../core/schema/policy.ts';
import type { LeaseOrder } from '../../core/schema/work.ts';
import { WorkClient } from '../../workers/api/work-client.ts';
import { ALONE, openScene, type Scene } from './scene.ts';

const GATEWAY = 'rollmesh-gateway';

let scene: Scene;
let start: VersionFiles;
beforeAll(async () => {
  scene = await openScene({ vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '120' }, rateLimit: 10_000 });
  start = await scene.gateway.getVersion({ name: 'arithmetic-base', version: 0 });
});
afterAll(() => scene.stop());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const aboutOf = (policy: string) => ({
  policy,
  version: 0,
  parent: null,
  groups: [],
  round: null,
  settings: {},
});
const put = (path: string, body: Uint8Array | string, headers: Record<string, string> = {}) =>
  fetch(`${scene.mesh.url}/api/policies/${path}`, {
    method: 'PUT',
    body: typeof body === 'string' ? body : body.slice(),
    headers: { authorization: `Bearer ${scene.mesh.secrets.LEARNER_TOKEN}`, ...headers, ...ALONE },
  });

test('a Worker and a node sample from weights in shards as from one file', async () => {
  const weights = start['model.safetensors']!;
  const third = Math.ceil(weights.length / 3);
  const shards = [0, 1, 2].map((i) => weights.subarray(i * third, (i + 1) * third));
  const path = 'in-shards/versions/0';
  for (const file of ['config.json', 'tokenizer.json'] as const)
    expect(
      (await put(`${path}/files/${file}`, start[file]!, { 'x-sha256': sha256(start[file]!) })).status,
    ).toBe(201);
  for (const [i, shard] of shards.entries()) {
    const headers = { 'x-sha256': sha256(shard) };
    expect((await put(`${path}/files/model.safetensors.shard-${i}`, shard, headers)).status).toBe(201);
  }
  const evil = await put(`${path}/files/evil.sh.shard-0`, '{}', { 'x-sha256': sha256(Buffer.from('{}')) });
  expect(evil.status).toBe(422);
  const { files } = await scene.gateway.getManifest({ name: 'arithmetic-base', version: 0 });
  const entry = (list: readonly Uint8Array[]) => ({
    ...files['model.safetensors']!,
    shards: list.map((bytes) => ({ sha256: sha256(bytes), bytes: bytes.length })),
  });
  const manifest = (list: readonly Uint8Array[]): Manifest => ({
    ...aboutOf('in-shards'),
    files: { ...files, 'model.safetensors': entry(list) },
  });
  const reordered = await put(path, JSON.stringify(manifest([shards[1]!, shards[0]!, shards[2]!])));
  expect(await reordered.text()).toContain(
    'The stored model.safetensors.shard-0 is not the one of the manifest.',
  );
  expect((await put(path, JSON.stringify(manifest(shards)))).status).toBe(201);

  const order = { recipe: 'trio', tasks: 2, groupSize: 2, policy: 'in-shards', engine: 'kernels' };
  const { round } = await scene.order({ ...order, seed: 3 });
  await scene.reach(round, ['training']);

  const { token } = await scene.gateway.makeNode('first');
  const node = new WorkClient({ url: scene.mesh.url, token });
  const asked: LeaseOrder = { kind: 'process', threads: 1, engines: ['kernels'], weights: [], limit: 1 };
  await node.lease({ ...asked, engines: ['onnx'] });
  await scene.order({ ...order, seed: 4 });
  for (;;) {
    const { lease, work } = await node.lease(asked);
    if (lease === null) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    const { weights: leased } = work[0]!.request;
    expect(leased.shards).toHaveLength(3);
    expect(sha256(await node.file(lease, leased))).toBe(files['model.safetensors']!.sha256);
    break;
  }

  const back = await scene.gateway.getVersion({ name: 'in-shards', version: 0 }, ['model.safetensors']);
  expect(sha256(back['model.safetensors']!)).toBe(files['model.safetensors']!.sha256);
  const bucket = await scene.mesh.mf.getR2Bucket('BUCKET', GATEWAY);
  await bucket.delete('policies/in-shards/0/model.safetensors.shard-1');
  const gone = scene.gateway.getVersion({ name: 'in-shards', version: 0 }, ['model.safetensors']);
  await expect(gone).rejects.toThrow('model.safetensors.shard-1');
});
