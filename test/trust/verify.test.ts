/**
 * A version is trained again from what the mesh has stored: the same bytes, and a clear word where the records are not what they were.
 * The learner's own code makes the version, over a round that is stored in memory.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifiedLines } from '../../cli/verify/verify.ts';
import { type VerifiedMesh, VersionChain, verifyVersion } from '../../cli/verify/verify-version.ts';
import type { PolicyState } from '../../core/schema/answers.ts';
import { type Manifest, manifestSha256 } from '../../core/schema/policy.ts';
import { type Device, openDevice } from '../../learner/device/device.ts';
import { trainRound } from '../../learner/loop/train-round.ts';
import { objectiveModules } from '../../learner/train/objective-modules.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { shipped } from '../../recipes/index.ts';
import { playHonestRound } from './honest-round.ts';
import { gatewayOf, MESH_KEY, messagesOf, type StoredRound, stateOf, storeRound } from './stored-round.ts';

const how = { recipes: shipped, meshKey: MESH_KEY, objectives: objectiveModules([]) };
let device: Device;
let stored: StoredRound;
let manifest: Manifest;
let name: string;

beforeAll(async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
  stored = storeRound(await playHonestRound(1, 3, 4));
  name = stored.spec.settings.policy;
  const { gateway, committed } = gatewayOf(stored);
  const trainer = new RoundTrainer();
  await trainRound(gateway, trainer, stateOf(stored), stored.rows, messagesOf(stored), {
    recipes: shipped,
    meshKey: MESH_KEY,
    maxStaleness: 0,
    leaseMs: 1,
    longestIdleMs: 1,
    device: device.description,
  });
  trainer.dispose();
  manifest = committed()!;
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
function meshWith(changes: Partial<VerifiedMesh> = {}): VerifiedMesh {
  const { gateway } = gatewayOf(stored);
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
