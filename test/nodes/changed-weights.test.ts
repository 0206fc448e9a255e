/**
 * Runs that train an adapter, in float32 or in bf16: nodes, Workers and one process fold it into the base alike, and the base is stored once. Then one that
 * publishes all weights in bf16: versions by deltas are the bytes of one process, for Workers, for nodes, and for one that comes late.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { follow } from '../../cli/node/adapter-servers.ts';
import { exportCheckpoint } from '../../cli/policy/export-checkpoint.ts';
import { versionRows } from '../../cli/policy/tables.ts';
import { scoredAfter } from '../../core/audit/score-again.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { keys, runIdOf } from '../../core/schema/round.ts';
import { rolloutGroup, type Sample } from '../../core/schema/sample.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { createPolicy, type OnnxPolicy } from '../../infer/onnx-policy.ts';
import { openVersion } from '../../infer/open-version.ts';
import { loadOrt } from '../../infer/ort.ts';
import { askingServer, withoutWeights } from '../../local/node/ask-server.ts';
import { readAdapter } from '../../model/adapter.ts';
import { parseConfig } from '../../model/config.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors, readStored, type Tensors } from '../../model/safetensors.ts';
import { runOf } from '../../recipes/run-order.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';
import { StandIn, versionIn } from './adapter-stand-in.ts';
import { type ChangedMesh, openChangedMesh } from './changed-mesh.ts';
import { startNode } from './in-process-node.ts';

const RANK = ['adapter.rank=4', 'adapter.alpha=8'];
/** Steps of the size that larger policies are trained with. */
const DELTAS = ['optimizer.publish=bf16', 'optimizer.learningRate=1e-6'];
const WEIGHTS = 'model.safetensors';
type Form = 'F32' | 'BF16';
/** The check plays the form that loses bits when it is published. */
const FORMS: readonly Form[] = NIGHT ? ['F32', 'BF16'] : ['BF16'];

let opened: ChangedMesh;
beforeAll(async () => {
  opened = await openChangedMesh('trio', RANK, [...RANK, 'optimizer.publish=bf16'], DELTAS);
});
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
);

test.each(FORMS)('in %s: so does a node, and what is exported says the same', async (form) => {
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
  const [{ requests } = { requests: 0 }] = (await gateway.listNodes()).filter(({ name }) => name === called);
  expect(requests).toBeGreaterThan(0);
  expect(await farthestFromExport(order)).toBeLessThan(1e-5);

  // The second version publishes its adapter with the moments; the weights lie in version 0.
  const name = runOfOrder(order).settings.policy;
  const { files } = await gateway.getManifest({ name, version: 2 });
  expect(files['model.safetensors']).toMatchObject({ version: 0, sha256: mesh['model.safetensors'] });
  expect(files['main.adapter.safetensors']).not.toHaveProperty('version');
  const policy = await gateway.getVersions(name);
  expect(versionRows(policy).at(-1)).toMatch(/current, stores changes to versions 0$/);
  const weights = files['model.safetensors']!.bytes;
  const { bytes } = policy.versions[0]!;
  expect(bytes).toBe(Object.values(files).reduce((sum, file) => sum + file.bytes, 0) - weights);

  const stored = await gateway.getVersion({ name, version: 2 });
  const merged = join(root, `merged-${form}`);
  const peft = join(root, `peft-${form}`);
  await exportCheckpoint(gateway, { name, version: 2 }, merged, 'F32');
  const done = await exportCheckpoint(gateway, { name, version: 2 }, peft, undefined, { adapter: true });
  expect(done.dtype).toBe(form);
  await expect(
    exportCheckpoint(gateway, { name, version: 0 }, join(root, `none-${form}`), 'F32', { adapter: true }),
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
});

test('three rounds come to the bytes of one process, and whoever comes late replays the deltas', async () => {
  const { playing, registry, root } = opened;
  const recipe = opened.others[1]!;
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
});

test.runIf(NIGHT)(
  `a server follows the versions of twenty rounds, and each answers for itself alone${IN_THE_NIGHT}`,
  async () => {
    const { playing, root, registry } = opened;
    const { gateway, url } = playing;
    const order = { ...orderOf('F32', 6), rounds: 20 };
    const { policy: name } = runOf(registry, order).settings;
    const folder = join(root, 'adapters');
    const start = await readPolicyFolder('models/arithmetic-base');
    const config = parseConfig(JSON.parse(new TextDecoder().decode(start['config.json'])));
    const runtime = await loadOrt();
    const policies = new Map<Tensors, Promise<OnnxPolicy>>();
    let turn: Promise<unknown> = Promise.resolve();
    const server = new StandIn('vllm', folder, {
      config,
      base: readSafetensors(start[WEIGHTS]!),
      draw: (weights, { prompt, maxNew, stop, seed }) => {
        const ref = { name: 'served', version: policies.size };
        const own = policies.get(weights) ?? createPolicy({ runtime, ref, config, weights });
        policies.set(weights, own);
        const made = turn.then(async () => {
          const asked = { maxNew, temperature: 1, stop };
          return (await (await own).generate([{ ids: prompt, sampleIds: [`${seed}`] }], asked))[0]![0]!;
        });
        turn = made.catch(() => undefined);
        return made;
      },
    });
    const { token, id } = await gateway.makeNode('follows', { exactness: 'close' });
    const at = { baseUrl: await server.start(), model: 'the-base', dialect: 'vllm' as const };
    const troubles: string[] = [];
    const followed = await follow(at, { folder, node: id, trouble: ({ code }) => troubles.push(code) });
    const node = await startNode(url, token, askingServer(at, followed), {
      serves: { name, version: 0, adapters: true },
      filesOf: withoutWeights,
    });
    await playing.playInMesh(order);
    await node.stop();
    await followed.stop();
    server.stop();
    for (const own of policies.values()) await (await own).dispose();
    expect([...troubles, ...node.troubles]).toEqual([]);
    // The learner scored all that it answered.
    const listed = (await gateway.listNodes()).find((one) => one.name === 'follows')!;
    expect(listed).toMatchObject({ exactness: 'close', reason: null });
    expect(listed.audited).toBe(listed.requests);
    expect(listed.mismatch.tokens).toBeGreaterThan(1000);
    expect(listed.mismatch.most).toBeLessThan(1e-3);
    const versions = [...new Set(server.answered)].map(versionIn).filter(Number.isInteger);
    // One after another; isolates sample a version alone where the node, which shares its process with the learner, was not heard of for long.
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
    expect(versions.length).toBeGreaterThan(14);
    expect(versions.at(-1)).toBeLessThan(20);
    // Its shape, and an adapter a version: no weights.
    expect(node.fetched).toHaveLength(1 + versions.length);
    expect(readdirSync(folder)).toEqual([]);
  },
  900_000,
);
