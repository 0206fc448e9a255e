/** Runs that publish weights in bf16: versions by deltas are the bytes of one process, for Workers, for nodes, and for one that comes late. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderRounds } from '../../api/signed-webhook.ts';
import { exportCheckpoint } from '../../cli/policy/export-checkpoint.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { runOf } from '../../recipes/run-order.ts';
import { type ChangedMesh, openChangedMesh } from './changed-mesh.ts';
import { startNode } from './in-process-node.ts';

const WEIGHTS = 'model.safetensors';
let opened: ChangedMesh;
beforeAll(async () => {
  // Steps of the size that larger policies are trained with.
  opened = await openChangedMesh('trio', ['optimizer.publish=bf16', 'optimizer.learningRate=1e-6']);
}, 120_000);
afterAll(() => opened.stop());

test('three rounds come to the bytes of one process, and whoever comes late replays the deltas', async () => {
  const { playing, registry, recipe, root } = opened;
  const { gateway, url } = playing;
  const node = await startNode(url, (await gateway.makeNode('early')).token);
  const order = {
    recipe,
    seed: 3,
    rounds: 3,
    freeze: [],
    tasks: 6,
    groupSize: 4,
    engine: 'kernels' as const,
  };
  const { mesh, alone, before } = await playing.play(order);
  await node.stop();
  expect(mesh).toEqual(alone);
  expect(mesh[WEIGHTS]).not.toBe(before[WEIGHTS]);
  expect(node.troubles).toEqual([]);

  // Version 0 is in float32, so that version 1 is the anchor; 2 and 3 are deltas.
  const { policy: name } = runOf(registry, order).settings;
  const { files } = await gateway.getManifest({ name, version: 3 });
  const { sha256, bytes, replay } = files[WEIGHTS]!;
  expect(sha256).toBe(mesh[WEIGHTS]);
  expect(replay!.anchor).toMatchObject({ version: 1, bytes });
  expect(replay!.deltas.map(({ version }) => version)).toEqual([2, undefined]);
  for (const delta of replay!.deltas) expect(delta.bytes).toBeLessThan(0.3 * bytes);
  // The early node sampled version 1 whole, and then version 2 by its delta alone.
  expect(node.fetched).toContain(replay!.anchor.sha256);
  expect(node.fetched).toContain(replay!.deltas[0]!.sha256);
  expect(node.fetched.filter((hash) => hash === replay!.anchor.sha256)).toHaveLength(1);

  // One that comes when version 3 is sampled gets the anchor and both deltas.
  const late = await startNode(url, (await gateway.makeNode('late')).token);
  const next = { ...order, seed: 4, rounds: 1, policy: name };
  await orderRounds(url, playing.webhookSecret, next);
  const run = runIdOf(runOf(registry, next).settings);
  while ((await gateway.listRounds(run)).some(({ state }) => state !== 'done' && state !== 'failed'))
    await new Promise((resolve) => setTimeout(resolve, 100));
  await late.stop();
  expect((await gateway.listRounds(run)).map(({ state }) => state)).toEqual(['done']);
  expect(late.troubles).toEqual([]);
  expect(late.fetched.slice(1).toSorted()).toEqual(
    [replay!.anchor, ...replay!.deltas].map((part) => part.sha256).toSorted(),
  );
  // The learner samples every record again: a node that computed with other weights would be shut out.
  const [listed] = (await gateway.listNodes()).filter((other) => other.name === 'late');
  expect(listed).toMatchObject({ reason: null });
  expect(listed!.requests).toBeGreaterThan(0);

  const folder = join(root, 'exported');
  await exportCheckpoint(gateway, { name, version: 3 }, folder, 'BF16');
  const exported = createHash('sha256')
    .update(readFileSync(join(folder, WEIGHTS)))
    .digest('hex');
  expect(exported).toBe(sha256);
}, 300_000);
