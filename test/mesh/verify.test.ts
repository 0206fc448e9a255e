/** A version is trained again from what the mesh has stored: the same bytes, and a clear word where the records are not what they were. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifiedLines } from '../../cli/verify/verify.ts';
import { type VerifiedMesh, VersionChain, verifyVersion } from '../../cli/verify/verify-version.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { objectiveModules } from '../../learner/train/objective-modules.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { openPlaying, type Playing } from './playing.ts';

const ORDER = { recipe: 'trio', rounds: 3, seed: 21, freeze: [], tasks: 4, ahead: 1 };
const { settings } = runOf(shipped, ORDER);
const name = settings.policy;
const how = { recipes: shipped, meshKey: undefined, objectives: objectiveModules([]) };

let playing: Playing;
beforeAll(async () => {
  playing = await openPlaying(['arithmetic-base']);
  await playing.play(ORDER);
}, 300_000);
afterAll(() => playing.stop());

/** The mesh, with some of its answers replaced. */
function meshWith(changes: Partial<VerifiedMesh>): VerifiedMesh {
  const { gateway } = playing;
  return {
    getPolicy: (...asked) => gateway.getPolicy(...asked),
    listPolicies: () => gateway.listPolicies(),
    getManifest: (...asked) => gateway.getManifest(...asked),
    getVersion: (...asked) => gateway.getVersion(...asked),
    getRound: (...asked) => gateway.getRound(...asked),
    getGroups: (...asked) => gateway.getGroups(...asked),
    getObject: (...asked) => gateway.getObject(...asked),
    ...changes,
  };
}

async function verified(version: number, changes: Partial<VerifiedMesh> = {}) {
  const mesh = meshWith(changes);
  return verifyVersion(mesh, await VersionChain.open(mesh, name), version, how);
}

test('every version back to 0 has the bytes that its records give', async () => {
  const chain = await VersionChain.open(playing.gateway, name);
  expect(chain.since(0, 3)).toEqual([1, 2, 3]);
  for (const version of chain.since(0, 3)) {
    const result = await verifyVersion(playing.gateway, chain, version, how);
    expect(result).toMatchObject({ version, parent: version - 1, round: version, same: true });
    expect(result.files.map(({ file }) => file)).toContain('optimizer.safetensors');
    expect(verifiedLines(result, name, 'CPU')[0]).toMatch(/^same bytes {2}version \d of trio-/);
  }
}, 120_000);

test('a record with one token changed is refused, by hash, before anything is trained', async () => {
  const [group] = await playing.gateway.getGroups(
    (await playing.gateway.listRounds(runIdOf(settings)))[0]!.id,
  );
  const forged = verified(3, {
    getObject: async (key, hash) => {
      const bytes = await playing.gateway.getObject(key, hash);
      if (!key.includes(group!.group)) return bytes;
      return new TextEncoder().encode(
        new TextDecoder().decode(bytes).replace('"stopped":true', '"stopped":false'),
      );
    },
  });
  await expect(forged).rejects.toMatchObject({ code: 'verify.records' });
  await expect(forged).rejects.toThrow(
    /of its 4 groups 1 cannot be used; group [0-9a-f]{32}: The bytes of the group/,
  );
});

test('a manifest that was exchanged, files that were pruned and a version that is not there are named', async () => {
  await expect(
    verified(2, {
      getManifest: async (ref) => ({ ...(await playing.gateway.getManifest(ref)), groups: [] }),
    }),
  ).rejects.toMatchObject({ code: 'version.manifest' });
  await expect(
    verified(2, {
      getPolicy: async (asked) => {
        const policy = (await playing.gateway.getPolicy(asked))!;
        const pruned = (version: number) => (version === 1 ? 5 : null);
        return {
          ...policy,
          versions: policy.versions.map((row) => ({ ...row, prunedAt: pruned(row.version) })),
        };
      },
    }),
  ).rejects.toMatchObject({ code: 'version.pruned' });
  await expect(verified(9)).rejects.toMatchObject({
    code: 'version.unknown',
    expected: 'a version from 0 to 3',
  });
  await expect(verified(0)).rejects.toThrow(/was imported and not trained \(arithmetic-base@0\)/);
  await expect(VersionChain.open(playing.gateway, 'nobody')).rejects.toMatchObject({
    code: 'policy.unknown',
  });
});

test('a version that was trained otherwise is told by file, with what may have made the difference', async () => {
  const result = await verified(2, {
    getVersion: async (ref, ...rest) => playing.gateway.getVersion({ ...ref, version: 0 }, rest[0]),
  });
  expect(result.same).toBe(false);
  const lines = verifiedLines({ ...result, trainedOn: 'WebGPU, some GPU' }, name, 'CPU, 1 thread, SIMD');
  expect(lines[0]).toMatch(/^DIFFERENT {3}version 2/);
  expect(lines.join('\n')).toMatch(/model\.safetensors: committed [0-9a-f]{16}, trained again [0-9a-f]{16}/);
  expect(lines.at(-1)).toContain('It was trained on WebGPU, some GPU; this is CPU, 1 thread, SIMD.');
});
