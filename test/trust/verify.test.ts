/**
 * A version is trained again from what the mesh has stored: the same bytes, and a clear word where the records are not what they were.
 * The learner's own code makes the version, over a round that is stored in memory.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifiedLines } from '../../cli/verify/verify.ts';
import { type VerifiedMesh, VersionChain, verifyVersion } from '../../cli/verify/verify-version.ts';
import { playStages } from '../../core/play-stages.ts';
import type { PolicyRef } from '../../core/policy.ts';
import { sha256Hex } from '../../core/random.ts';
import { type Registry, registry } from '../../core/registry.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { openRoundContext } from '../../core/round-context.ts';
import type { PolicyState } from '../../core/schema/answers.ts';
import { type Manifest, manifestSha256 } from '../../core/schema/policy.ts';
import { roundOf } from '../../core/schema/round.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { type Device, openDevice } from '../../learner/device/device.ts';
import { trainRound } from '../../learner/loop/train-round.ts';
import { objectiveModules } from '../../learner/train/objective-modules.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { distilFrom } from '../../recipes/distil/from-data.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import type { PlacedTask } from '../../tasks/file/task.ts';
import { playHonestRound } from './honest-round.ts';
import {
  gatewayOf,
  MESH_KEY,
  messagesOf,
  putVersion,
  type StoredRound,
  sealAll,
  stateOf,
  storeRound,
} from './stored-round.ts';

const how = { recipes: shipped, meshKey: MESH_KEY, objectives: objectiveModules([]) };
let device: Device;
let stored: StoredRound;
let manifest: Manifest;
let name: string;

/** Has the learner train a stored round, and returns the manifest of the version that it makes. */
async function trainStored(round: StoredRound, recipes: Registry): Promise<Manifest> {
  const { gateway, committed } = gatewayOf(round);
  const trainer = new RoundTrainer();
  await trainRound(gateway, trainer, stateOf(round), round.rows, messagesOf(round), {
    recipes,
    meshKey: MESH_KEY,
    maxStaleness: 0,
    leaseMs: 1,
    longestIdleMs: 1,
    device: device.description,
  });
  trainer.dispose();
  return committed()!;
}

beforeAll(async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
  stored = storeRound(await playHonestRound(1, 3, 4));
  name = stored.spec.settings.policy;
  manifest = await trainStored(stored, shipped);
}, 120_000);
afterAll(() => device.close());

const row = (version: number, more: Partial<PolicyState['versions'][number]> = {}) => ({
  version,
  parent: version === 0 ? null : version - 1,
  round: null,
  bytes: 1,
  createdAt: 1,
  withdrawn: null,
  prunedAt: null,
  manifestSha256: null,
  ...more,
});

/** The mesh after the commit, with some of its answers replaced. */
const meshWith = (changes: Partial<VerifiedMesh> = {}): VerifiedMesh => meshOf(stored, manifest, changes);

function meshOf(round: StoredRound, manifest: Manifest, changes: Partial<VerifiedMesh> = {}): VerifiedMesh {
  const { gateway } = gatewayOf(round);
  const name = manifest.policy;
  const versions = [row(1, { manifestSha256: manifestSha256(manifest) }), row(0)];
  return {
    getPolicy: (asked) => Promise.resolve(asked === name ? { name, current: 1, next: 2, versions } : null),
    listPolicies: () => Promise.resolve([name]),
    getManifest: (ref) => (ref.version === 1 ? Promise.resolve(manifest) : gateway.getManifest(ref)),
    getVersion: (...asked) => gateway.getVersion(...asked),
    getRound: (id) => gateway.getRound(id),
    getGroups: (id) => gateway.getGroups(id),
    getObject: (...asked) => gateway.getObject(...asked),
    ...changes,
  };
}

async function verified(version: number, changes: Partial<VerifiedMesh> = {}) {
  const mesh = meshWith(changes);
  return verifyVersion(mesh, await VersionChain.open(mesh, name), version, how);
}

test('training again gives the committed bytes of every file', async () => {
  expect((await VersionChain.open(meshWith(), name)).since(0, 1)).toEqual([1]);
  const result = await verified(1);
  expect(result).toMatchObject({
    version: 1,
    parent: 0,
    round: 1,
    same: true,
    trainedOn: device.description,
  });
  expect(result.groups).toBe(manifest.groups.length);
  expect(result.files.map(({ file }) => file)).toEqual(Object.keys(manifest.files).sort());
  expect(verifiedLines(result, name, device.description)).toEqual([
    expect.stringMatching(
      /^same bytes {2}version 1 of trio-11, trained from version 0 on \d groups of round 1: \d files/,
    ),
  ]);
}, 60_000);

test('a record with one character changed is refused by its hash before anything is trained', async () => {
  const { gateway } = gatewayOf(stored);
  const [group] = manifest.groups;
  const forged = verified(1, {
    getObject: async (key, hash) => {
      const bytes = await gateway.getObject(key, hash);
      if (!key.includes(group!)) return bytes;
      return new TextEncoder().encode(
        new TextDecoder().decode(bytes).replace('"stopped":true', '"stopped":false'),
      );
    },
  });
  await expect(forged).rejects.toMatchObject({ code: 'verify.records' });
  await expect(forged).rejects.toThrow(
    new RegExp(
      `of its ${manifest.groups.length} groups 1 cannot be used; group ${group}: .* is not the one that was sealed`,
    ),
  );
});

test('a seal that does not fit is refused, and so is a group that the database does not know', async () => {
  const { gateway } = gatewayOf(stored);
  const sealed = verified(1, {
    getGroups: async (id) => (await gateway.getGroups(id)).map((one) => ({ ...one, mac: 'a'.repeat(64) })),
  });
  await expect(sealed).rejects.toThrow(/The seal does not fit/);
  await expect(verified(1, { getGroups: () => Promise.resolve([]) })).rejects.toThrow(/has no scored group/);
});

test('an exchanged manifest, pruned files, an import and a version that is not there are named', async () => {
  await expect(
    verified(1, { getManifest: () => Promise.resolve({ ...manifest, groups: [] }) }),
  ).rejects.toMatchObject({ code: 'version.manifest' });
  const versions = [row(1), row(0, { prunedAt: 5 })];
  await expect(
    verified(1, { getPolicy: () => Promise.resolve({ name, current: 1, next: 2, versions }) }),
  ).rejects.toMatchObject({ code: 'version.pruned' });
  await expect(verified(9)).rejects.toMatchObject({
    code: 'version.unknown',
    expected: 'a version from 0 to 1',
  });
  await expect(verified(0)).rejects.toThrow(/was imported and not trained/);
  await expect(VersionChain.open(meshWith(), 'nobody')).rejects.toMatchObject({ code: 'policy.unknown' });
});

test('a version that was trained otherwise is told by file, with what may have made the difference', async () => {
  const files = { ...manifest.files, 'model.safetensors': { sha256: 'b'.repeat(64), bytes: 1 } };
  const other: Manifest = {
    ...manifest,
    files,
    settings: { ...manifest.settings, device: 'WebGPU, some GPU' },
  };
  const result = await verified(1, {
    getManifest: () => Promise.resolve(other),
    getPolicy: () => Promise.resolve({ name, current: 1, next: 2, versions: [row(1), row(0)] }),
  });
  expect(result.same).toBe(false);
  const lines = verifiedLines(result, name, 'CPU, 1 thread, SIMD');
  expect(lines[0]).toMatch(/^DIFFERENT {3}version 1/);
  expect(lines[1]).toMatch(/model\.safetensors: committed b{16}, trained again [0-9a-f]{16}$/);
  expect(lines.at(-1)).toContain('It was trained on WebGPU, some GPU; this is CPU, 1 thread, SIMD.');
}, 60_000);

test('a version that another policy taught is trained again with the teacher that the round sealed', async () => {
  const start = await readPolicyFolder('models/arithmetic-base');
  const line = (question: string, answer: string, at: number): PlacedTask => ({
    messages: [{ role: 'user', content: question }],
    answer,
    metadata: {},
    difficulty: null,
    file: 'sums',
    line: at,
  });
  const recipe = distilFrom({
    name: 'sums',
    start: 'arithmetic-base',
    checker: 'number',
    extract: ['answer'],
    sources: [{ weight: 1, tasks: [line('1+2', '3', 1), line('4+5', '9', 2)] }],
    heldOut: [line('2+2', '4', 3)],
    settings: { teacher: { policy: 'taught' }, maxNew: 12 },
  });
  const recipes = registry([recipe]);
  const { settings } = runOf(recipes, {
    recipe: recipe.name,
    seed: 0,
    rounds: 1,
    freeze: [],
    policy: 'student',
    tasks: 2,
    groupSize: 2,
  });
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);
  const policy = await openVersion(nodeEngines, { name: 'student', version: 0 }, start);
  const tools = {
    ...textOf(start, 'student'),
    use: <T>(_ref: PolicyRef, work: (opened: typeof policy) => Promise<T>) => work(policy),
    recipeState: () => Promise.resolve(undefined),
  };
  const { proposals, groups } = await playStages(openRoundContext({ recipe, round, ...tools }));
  const record = { recipe, round, ...JSON.parse(JSON.stringify({ proposals, groups })) };
  const taught = storeRound({ record, files: start });
  const teacher = await readPolicyFolder('models/arithmetic-chains');
  taught.manifests['taught@0'] = putVersion(taught, teacher, 'taught');
  sealAll(taught);
  const made = await trainStored(taught, recipes);
  const again = async () => {
    const mesh = meshOf(taught, made);
    return verifyVersion(mesh, await VersionChain.open(mesh, 'student'), 1, { ...how, recipes });
  };
  expect(await again()).toMatchObject({ version: 1, parent: 0, groups: 2, same: true });
  expect(made.files['model.safetensors']!.sha256).not.toBe(sha256Hex(start['model.safetensors']!));
  // Somebody has put another policy in the teacher's place since.
  putVersion(taught, start, 'taught');
  await expect(again()).rejects.toThrow(/taught/);
}, 60_000);
