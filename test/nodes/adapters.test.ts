/** Runs that train an adapter, in float32 or in bf16: nodes, Workers and one process fold it into the base alike, and the base is stored once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportCheckpoint } from '../../cli/policy/export-checkpoint.ts';
import { versionRows } from '../../cli/policy/tables.ts';
import { scoredAfter } from '../../core/audit/score-again.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { keys, runIdOf } from '../../core/schema/round.ts';
import { rolloutGroup, type Sample } from '../../core/schema/sample.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { readAdapter } from '../../model/adapter.ts';
import { readSafetensors, readStored } from '../../model/safetensors.ts';
import { runOf } from '../../recipes/run-order.ts';
import { type ChangedMesh, openChangedMesh } from './changed-mesh.ts';
import { startNode } from './in-process-node.ts';

const RANK = ['adapter.rank=4', 'adapter.alpha=8'];
const FORMS = ['F32', 'BF16'] as const;
type Form = (typeof FORMS)[number];

let opened: ChangedMesh;
beforeAll(async () => {
  opened = await openChangedMesh('trio', RANK, [...RANK, 'optimizer.publish=bf16']);
}, 120_000);
afterAll(() => opened.stop());

const orderOf = (form: Form, seed: number) => ({
  recipe: form === 'F32' ? opened.recipe : opened.others[0]!,
  seed,
  rounds: 2,
  freeze: [],
  tasks: 6,
  groupSize: 4,
  engine: 'kernels' as const,
});
const runOfOrder = (order: ReturnType<typeof orderOf>) => runOf(opened.registry, order);

/** The rollouts of the second round, which the first adapter sampled. */
async function sampled(order: ReturnType<typeof orderOf>): Promise<readonly Sample[]> {
  const { gateway } = opened.playing;
  const rounds = await gateway.listRounds(runIdOf(runOfOrder(order).settings));
  const round = rounds.find(({ index }) => index === 2)!.id;
  const groups = await gateway.getGroups(round);
  const read = async (group: string): Promise<readonly Sample[]> => {
    const bytes = await gateway.getObject(keys.rollouts(round, group, 0));
    return v.parse(rolloutGroup, JSON.parse(new TextDecoder().decode(bytes))).samples;
  };
  return (await Promise.all(groups.map(({ group }) => read(group)))).flat();
}

const bytesAt = (path: string): Uint8Array => new Uint8Array(readFileSync(path));

/** The largest difference between the log-probabilities that were recorded with the samples and those of version 1 merged at its export, nats. */
async function farthestFromExport(order: ReturnType<typeof orderOf>): Promise<number> {
  const name = runOfOrder(order).settings.policy;
  const folder = join(opened.root, `first-${name}`);
  await exportCheckpoint(opened.playing.gateway, { name, version: 1 }, folder, 'F32');
  const files: VersionFiles = {
    'config.json': bytesAt(join(folder, 'config.json')),
    'model.safetensors': bytesAt(join(folder, 'model.safetensors')),
  };
  const policy = await openVersion(nodeEngines, { name, version: 1, engine: 'kernels' }, files);
  const samples = await sampled(order);
  expect(samples).toHaveLength(24);
  for (const { policy: by } of samples) expect(by).toMatchObject({ name, version: 1 });
  const scores = await scoredAfter(policy, samples);
  await policy.dispose();
  const differences = samples.flatMap(({ logprobs }, i) =>
    logprobs.map((logprob, t) => Math.abs(logprob - scores[i]!.logprobs[t]!)),
  );
  return differences.reduce((a, b) => Math.max(a, b), 0);
}

// Before any node is there, so that isolates sample.
test.each(FORMS)(
  'in %s: Workers come to the bytes of one process, and an export to their log-probabilities',
  async (form) => {
    const order = orderOf(form, 5);
    const { mesh, alone, before } = await opened.playing.play(order);
    expect(mesh).toEqual(alone);
    expect(mesh['main.adapter.safetensors']).not.toBe(before['main.adapter.safetensors']);
    expect(await farthestFromExport(order)).toBeLessThan(1e-5);
  },
  300_000,
);

test.each(FORMS)(
  'in %s: so does a node, and what is exported says the same',
  async (form) => {
    const { playing, root } = opened;
    const { gateway, url } = playing;
    const called = `folds-${form.toLowerCase()}`;
    const { token } = await gateway.makeNode(called);
    const node = await startNode(url, token);
    const order = orderOf(form, 3);
    const { mesh, alone, before } = await playing.play(order);
    await node.stop();
    expect(mesh).toEqual(alone);
    expect(mesh['model.safetensors']).toBe(before['model.safetensors']);
    expect(mesh['main.adapter.safetensors']).not.toBe(before['main.adapter.safetensors']);
    const [{ requests } = { requests: 0 }] = (await gateway.listNodes()).filter(
      ({ name }) => name === called,
    );
    expect(requests).toBeGreaterThan(0);
    expect(await farthestFromExport(order)).toBeLessThan(1e-5);

    // The second version publishes its adapter with the moments; the weights lie in version 0.
    const name = runOfOrder(order).settings.policy;
    const { files } = await gateway.getManifest({ name, version: 2 });
    expect(files['model.safetensors']).toMatchObject({ version: 0, sha256: mesh['model.safetensors'] });
    expect(files['main.adapter.safetensors']).not.toHaveProperty('version');
    const policy = await gateway.getVersions(name);
    expect(versionRows(policy).at(-1)).toMatch(/current, with files of 0$/);
    const weights = files['model.safetensors']!.bytes;
    const { bytes } = policy.versions[0]!;
    expect(bytes).toBe(Object.values(files).reduce((sum, file) => sum + file.bytes, 0) - weights);

    const stored = await gateway.getVersion({ name, version: 2 });
    const merged = join(root, `merged-${form}`);
    const peft = join(root, `peft-${form}`);
    await exportCheckpoint(gateway, { name, version: 2 }, merged, 'F32');
    const done = await exportCheckpoint(gateway, { name, version: 2 }, peft, undefined, true);
    expect(done.dtype).toBe(form);
    await expect(
      exportCheckpoint(gateway, { name, version: 0 }, join(root, `none-${form}`), 'F32', true),
    ).rejects.toMatchObject({ code: 'export.no-adapter' });
    const score = async (of: VersionFiles) => {
      const opened = await openVersion(nodeEngines, { name, version: 2, engine: 'kernels' }, of);
      const [scored] = await opened.score([[5, 17, 3, 40, 8, 21, 2, 33]]);
      await opened.dispose();
      return scored;
    };
    const whole = {
      'config.json': stored['config.json']!,
      'model.safetensors': bytesAt(join(merged, 'model.safetensors')),
    };
    expect(await score(whole)).toEqual(await score(stored));
    expect(JSON.parse(readFileSync(join(peft, 'adapter_config.json'), 'utf8'))).toMatchObject({
      r: 4,
      lora_alpha: 8,
      base_model_name_or_path: `${name}@0`,
    });
    const exported = bytesAt(join(peft, 'adapter_model.safetensors'));
    for (const file of [exported, stored['main.adapter.safetensors']!])
      for (const { dtype } of readStored(file).values()) expect(dtype).toBe(form);
    const values = readSafetensors(exported);
    const adapter = readAdapter(stored['main.adapter.safetensors']!)!;
    for (const [tensor, { data }] of adapter.tensors)
      expect(values.get(`base_model.model.${tensor}`)!.data).toEqual(data);
  },
  300_000,
);
