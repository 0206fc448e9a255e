/** Runs that train an adapter: nodes, Workers and one process fold it into the base alike, and the base is stored once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportCheckpoint } from '../../cli/policy/export-checkpoint.ts';
import { versionRows } from '../../cli/policy/tables.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { readAdapter } from '../../model/adapter.ts';
import { readSafetensors } from '../../model/safetensors.ts';
import { runOf } from '../../recipes/run-order.ts';
import { type ChangedMesh, openChangedMesh } from './changed-mesh.ts';
import { startNode } from './in-process-node.ts';

let opened: ChangedMesh;
beforeAll(async () => {
  opened = await openChangedMesh('trio', ['adapter.rank=4', 'adapter.alpha=8']);
}, 120_000);
afterAll(() => opened.stop());

test('two rounds by a node and Workers are the bytes of one process, and what is exported says the same', async () => {
  const { playing, registry, recipe, root } = opened;
  const { gateway, url } = playing;
  const { token } = await gateway.makeNode('folds');
  const node = await startNode(url, token);
  const order = {
    recipe,
    seed: 3,
    rounds: 2,
    freeze: [],
    tasks: 6,
    groupSize: 4,
    engine: 'kernels' as const,
  };
  const { settings } = runOf(registry, order);
  const { mesh, alone, before } = await playing.play(order);
  await node.stop();
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).toBe(before['model.safetensors']);
  expect(mesh['main.adapter.safetensors']).not.toBe(before['main.adapter.safetensors']);
  const [{ requests } = { requests: 0 }] = (await gateway.listNodes()).filter(({ name }) => name === 'folds');
  expect(requests).toBeGreaterThan(0);

  // The second version publishes its adapter with the moments; the weights lie in version 0.
  const name = settings.policy;
  const { files } = await gateway.getManifest({ name, version: 2 });
  expect(files['model.safetensors']).toMatchObject({ version: 0, sha256: mesh['model.safetensors'] });
  expect(files['main.adapter.safetensors']).not.toHaveProperty('version');
  const policy = await gateway.getVersions(name);
  expect(versionRows(policy).at(-1)).toMatch(/current, with files of 0$/);
  const weights = files['model.safetensors']!.bytes;
  const { bytes } = policy.versions[0]!;
  expect(bytes).toBe(Object.values(files).reduce((sum, file) => sum + file.bytes, 0) - weights);

  const stored = await gateway.getVersion({ name, version: 2 });
  const merged = join(root, 'merged');
  const peft = join(root, 'peft');
  await exportCheckpoint(gateway, { name, version: 2 }, merged, 'F32');
  await exportCheckpoint(gateway, { name, version: 2 }, peft, 'F32', true);
  await expect(
    exportCheckpoint(gateway, { name, version: 0 }, join(root, 'none'), 'F32', true),
  ).rejects.toMatchObject({ code: 'export.no-adapter' });
  const score = async (of: VersionFiles) => {
    const opened = await openVersion(nodeEngines, { name, version: 2, engine: 'kernels' }, of);
    const [scored] = await opened.score([[5, 17, 3, 40, 8, 21, 2, 33]]);
    await opened.dispose();
    return scored;
  };
  const whole = {
    'config.json': stored['config.json']!,
    'model.safetensors': new Uint8Array(readFileSync(join(merged, 'model.safetensors'))),
  };
  expect(await score(whole)).toEqual(await score(stored));
  expect(JSON.parse(readFileSync(join(peft, 'adapter_config.json'), 'utf8'))).toMatchObject({
    r: 4,
    lora_alpha: 8,
    base_model_name_or_path: `${name}@0`,
  });
  const exported = readSafetensors(new Uint8Array(readFileSync(join(peft, 'adapter_model.safetensors'))));
  const adapter = readAdapter(stored['main.adapter.safetensors']!)!;
  for (const [tensor, { data }] of adapter.tensors)
    expect(exported.get(`base_model.model.${tensor}`)!.data).toEqual(data);
}, 300_000);
